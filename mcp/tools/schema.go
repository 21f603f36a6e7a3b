package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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

// A param is a JSON schema with its keys in reading order: of one argument, or of a result.
type param struct {
	name        string
	Type        string          `json:"type,omitempty"`
	AnyOf       json.RawMessage `json:"anyOf,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	Properties  properties      `json:"properties,omitzero"` // nil: an object with any properties
	Others      bool            `json:"additionalProperties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Items       *param          `json:"items,omitempty"`
	Description string          `json:"description,omitempty"`
}

// properties are a struct's fields in declaration order.
type properties []param

// inputOf returns the input schema of a tool with the arguments A, built on first use:
// every process links the tools, but most only relay. Its properties are A's JSON fields,
// with the tags required:"true", enum:"a,b", min:"1", max:"9" and doc:"text".
func inputOf[A any]() func() schema {
	return sync.OnceValue(func() schema {
		root := schemaOf(reflect.TypeFor[A](), true)
		s := root.object()
		s.raw = root.text()
		return s
	})
}

// object returns the schema with the properties of an object.
func (p param) object() schema {
	s := schema{required: p.Required, byName: make(map[string]param, len(p.Properties)), params: slices.Clone(p.Properties)}
	slices.SortFunc(s.params, func(a, b param) int { return cmp.Compare(a.name, b.name) })
	for _, inner := range s.params {
		s.byName[inner.name] = inner
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
// have a schema only in that case. An object of which some fields have schemas permits
// others explicitly, because FastMCP's client would drop those otherwise. The fields of an
// embedded struct with the tag schema:"optional" may be absent.
func outputOf[T any]() func() json.RawMessage {
	return sync.OnceValue(func() json.RawMessage { return schemaOf(reflect.TypeFor[T](), false).text() })
}

// text encodes a schema. Unlike json.Marshal, it does not escape ">", which would take up
// more context.
func (p *param) text() json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// anyValue are the schemas of all JSON values.
const anyValue = `[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"array","items":{"type":"string"}},{"type":"object"},{"type":"null"}]`

// schemaOf returns the schema of a Go type, for arguments if input is set, else for a result.
func schemaOf(t reflect.Type, input bool) *param {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), input)
	case reflect.Struct:
		return objectOf(t, input)
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return &param{Type: "object"}
		}
		items := schemaOf(t.Elem(), input)
		if !input && items.Properties == nil && items.Required == nil { // takes up context and says little
			items = nil
		}
		return &param{Type: "array", Items: items}
	case reflect.Interface:
		if input {
			return &param{AnyOf: json.RawMessage(anyValue)}
		}
		return &param{Type: "object"}
	case reflect.Map:
		return &param{Type: "object"}
	case reflect.String:
		return &param{Type: "string"}
	case reflect.Bool:
		return &param{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &param{Type: "number"}
	}
	return &param{Type: "integer"}
}

// objectOf is schemaOf for a struct. Fields of a result that have nothing to say beyond their
// name are omitted.
func objectOf(t reflect.Type, input bool) *param {
	object := &param{Type: "object"}
	if input {
		object.Properties = properties{}
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" { // VisibleFields includes the fields of an anonymous one
			continue
		}
		required := options == "" && t.Field(f.Index[0]).Tag.Get("schema") != "optional"
		if input {
			required = f.Tag.Get("required") != ""
		}
		if required {
			object.Required = append(object.Required, name)
		}
		field := schemaOf(f.Type, input)
		field.Description, field.Minimum, field.Maximum = f.Tag.Get("doc"), bound(f.Tag.Get("min")), bound(f.Tag.Get("max"))
		if enum := f.Tag.Get("enum"); enum != "" {
			field.Enum = strings.Split(enum, ",")
		}
		if input || field.Description != "" || field.Items != nil || field.Properties != nil || field.Required != nil {
			field.name = name
			object.Properties, object.Others = append(object.Properties, *field), !input
		}
	}
	return object
}

// bound returns the number in a tag, or nil if there is none.
func bound(tag string) *float64 {
	n, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		return nil
	}
	return &n
}

func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for _, f := range p {
		fmt.Fprintf(&b, ",%q:%s", f.name, f.text())
	}
	return append([]byte("{"+strings.TrimPrefix(b.String(), ",")), '}'), nil
}
