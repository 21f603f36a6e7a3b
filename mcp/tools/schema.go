package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A schema is what the argument decoder needs of a tool's input schema. Input schemas keep
// to a subset that every host accepts: an object whose properties have one type each, no
// references, no combinators. A property of any type has an anyOf of all types, since some
// hosts reject one without a type; the decoder accepts any value for it.
type schema struct {
	raw      json.RawMessage
	params   []param // sorted by name
	required []string
	byName   map[string]param
}

// A param is one argument.
type param struct {
	name    string
	Type    string   `json:"type"`
	Enum    []string `json:"enum"`
	Minimum *float64 `json:"minimum"`
	Maximum *float64 `json:"maximum"`
	Items   *param   `json:"items"`

	Description string `json:"description"`

	// Properties are those of an object with known properties; an object without them may
	// have any.
	Properties map[string]param `json:"properties"`
	Required   []string         `json:"required"`
}

// inputOf returns the input schema of a tool with the arguments A, built on first use:
// every process links the tools, but most only relay. Its properties are A's JSON fields,
// with the tags required:"true", enum:"a,b", min:"1", max:"9" and doc:"text".
func inputOf[A any]() func() schema {
	return sync.OnceValue(func() schema { return parseSchema(schemaText(reflect.TypeFor[A](), true)) })
}

// mustSchema is inputOf for a schema written by hand. It panics if the schema is invalid;
// the tests use all schemas.
func mustSchema(text string) func() schema {
	return sync.OnceValue(func() schema { return parseSchema(text) })
}

func parseSchema(text string) schema {
	var root param
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		panic(fmt.Errorf("schema: %w: %s", err, text))
	}
	s := root.object()
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(text)) // already parsed
	s.raw = b.Bytes()
	return s
}

// object returns the schema with the properties of an object.
func (p param) object() schema {
	s := schema{required: p.Required, byName: make(map[string]param, len(p.Properties))}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		inner := p.Properties[name]
		inner.name = name
		s.byName[name] = inner
		s.params = append(s.params, inner)
	}
	return s
}

// with returns the schema with the limits inserted for their placeholders, such as {hits}
// in "default {hits}".
func (s schema) with(l Limits) json.RawMessage {
	return json.RawMessage(strings.NewReplacer(
		"{hits}", strconv.Itoa(l.Hits),
		"{result_bytes}", strconv.Itoa(l.ResultBytes),
		"{gather_bytes}", strconv.Itoa(l.gatherBytes()),
	).Replace(string(s.raw)))
}

func (s schema) names() []string {
	names := make([]string, len(s.params))
	for i, p := range s.params {
		names[i] = p.name
	}
	return names
}

// outputOf returns the output schema of a tool that returns a T, built on first use: an
// object with T's JSON fields, and the texts of their "doc" tags as descriptions. The
// schema takes up context in every client, so fields that are always present are only
// listed as required, unless they have a description or fields of their own; other fields
// have a schema only in that case. The fields of an embedded struct with the tag
// schema:"optional" may be absent.
func outputOf[T any]() func() json.RawMessage {
	return sync.OnceValue(func() json.RawMessage { return json.RawMessage(schemaText(reflect.TypeFor[T](), false)) })
}

func schemaText(t reflect.Type, input bool) string { return string(schemaOf(t, input).text()) }

// text encodes a schema. Unlike json.Marshal, it does not escape ">", which would take up
// more context.
func (s *jsonSchema) text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// A jsonSchema is a JSON schema with its keys in reading order.
type jsonSchema struct {
	Type        string          `json:"type,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     json.RawMessage `json:"minimum,omitempty"`
	Maximum     json.RawMessage `json:"maximum,omitempty"`
	Properties  properties      `json:"properties,omitzero"`
	Required    []string        `json:"required,omitempty"`
	Items       *jsonSchema     `json:"items,omitempty"`
	Description string          `json:"description,omitempty"`
}

// properties are a struct's fields in declaration order.
type (
	properties []property
	property   struct {
		name   string
		schema *jsonSchema
	}
)

func schemaOf(t reflect.Type, input bool) *jsonSchema {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), input)
	case reflect.Struct:
		return objectOf(t, input)
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return &jsonSchema{Type: "object"}
		}
		items := schemaOf(t.Elem(), input)
		if !input && items.Type != "object" { // takes up context and says little
			items = nil
		}
		return &jsonSchema{Type: "array", Items: items}
	case reflect.Map, reflect.Interface:
		return &jsonSchema{Type: "object"}
	case reflect.String:
		return &jsonSchema{Type: "string"}
	case reflect.Bool:
		return &jsonSchema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &jsonSchema{Type: "number"}
	}
	return &jsonSchema{Type: "integer"}
}

func objectOf(t reflect.Type, input bool) *jsonSchema {
	object := &jsonSchema{Type: "object"}
	if input {
		object.Properties = properties{}
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous { // VisibleFields includes its fields
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		required := options == "" && t.Field(f.Index[0]).Tag.Get("schema") != "optional"
		if input {
			required = f.Tag.Get("required") != ""
		}
		if required {
			object.Required = append(object.Required, name)
		}
		field := schemaOf(f.Type, input)
		field.Description, field.Minimum, field.Maximum = f.Tag.Get("doc"), json.RawMessage(f.Tag.Get("min")), json.RawMessage(f.Tag.Get("max"))
		if enum := f.Tag.Get("enum"); enum != "" {
			field.Enum = strings.Split(enum, ",")
		}
		if input || field.Description != "" || field.Items != nil || field.Properties != nil || field.Required != nil {
			object.Properties = append(object.Properties, property{name, field})
		}
	}
	return object
}

func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for _, f := range p {
		fmt.Fprintf(&b, ",%q:%s", f.name, f.schema.text())
	}
	return append([]byte("{"+strings.TrimPrefix(b.String(), ",")), '}'), nil
}
