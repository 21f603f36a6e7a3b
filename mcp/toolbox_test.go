package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/tools"
)

// maxToolBytes limits the size of the names, descriptions and schemas of the default tools,
// which take up context in every conversation.
const maxToolBytes = 15_000

func TestDefaultToolsAreSmall(t *testing.T) {
	for name, limits := range map[string]Settings{
		"by default": {}, "with the largest numbers that the configuration takes": {Hits: 50, ResultBytes: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			inputs, outputs := 0, 0
			for _, tool := range tools.All() {
				def := definition(tool, limits.tools())
				inputs += len(def.Name) + len(def.Description) + len(def.InputSchema.(json.RawMessage))
				outputs += len(def.OutputSchema.(json.RawMessage))
			}
			t.Logf("%d bytes, %d with the output schemas", inputs, inputs+outputs)
			assert.LessOrEqual(t, inputs+outputs, maxToolBytes)
		})
	}
}

// Defaults stated in a schema are the actual defaults.
func TestSchemasTellTheTrueDefaults(t *testing.T) {
	files := map[string]string{"Long.md": strings.Repeat("beetroot "+strings.Repeat("x", 90)+"\n", 1000)}
	for i := range 30 {
		files[fmt.Sprintf("Note %02d.md", i)] = strings.Repeat("beetroot soup\n", 100)
	}
	for _, limits := range []Settings{{}, {Hits: 7, ResultBytes: 3000}, {Hits: 25, ResultBytes: 50_000}} {
		t.Run(fmt.Sprint(limits.Hits), func(t *testing.T) {
			w := newWorld(t, files, Limits{}, limits)
			declared := func(tool, argument string) int {
				t.Helper()
				var schema struct {
					Properties map[string]struct{ Description string }
				}
				require.NoError(t, json.Unmarshal(tools.Find(tool).InputSchema(limits.tools()), &schema))
				var n int
				_, err := fmt.Sscanf(schema.Properties[argument].Description, "default %d", &n)
				require.NoError(t, err)
				return n
			}
			found, err := callTool(t, w, "search_notes", `{"query":"beetroot"}`)
			require.NoError(t, err)
			assert.Len(t, found.Structured.(tools.SearchResult).Results, declared("search_notes", "limit"))

			read, err := callTool(t, w, "read_note", `{"note":"Long.md"}`)
			require.NoError(t, err)
			most := declared("read_note", "max_bytes")
			data, err := json.Marshal(read.Structured)
			require.NoError(t, err)
			assert.InDelta(t, most, len(data), 350, "as many lines as fit")
			assert.LessOrEqual(t, len(data), most)

			assert.Equal(t, min(12_000, limits.tools().ResultBytes), declared("gather_context", "max_bytes"))
		})
	}
}

var toolName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

func TestToolsKeepTheRules(t *testing.T) {
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(tools.Names()))), len(tools.All()), "two tools have one name")
	for _, tool := range tools.All() {
		t.Run(tool.Name, func(t *testing.T) {
			assert.Regexp(t, toolName, tool.Name)
			assert.LessOrEqual(t, len(tool.Name), 64)
			assert.NotContains(t, toolGroups, tool.Name)
			def := definition(tool, Settings{ResultBytes: 20 << 10}.tools())
			assert.NotEmpty(t, def.Title)
			assert.Less(t, len(def.Description), 400)
			assert.Regexp(t, `\b[Uu]se it\b`, def.Description, "says when to use it")
			require.NotNil(t, def.Annotations.DestructiveHint)
			require.NotNil(t, def.Annotations.OpenWorldHint)
			assert.False(t, *def.Annotations.OpenWorldHint)
			assert.False(t, def.Annotations.ReadOnlyHint && *def.Annotations.DestructiveHint)
			assertPlainSchema(t, tool.InputSchema(Settings{}.tools()), true)
			assertPlainSchema(t, tool.OutputSchema(), false)
		})
	}
}

// assertPlainSchema checks that every host's model API accepts a schema, and that it
// describes an object.
func assertPlainSchema(t *testing.T, raw json.RawMessage, arguments bool) {
	t.Helper()
	var schema map[string]any
	require.NoError(t, json.Unmarshal(raw, &schema))
	assert.Equal(t, "object", schema["type"])
	var walk func(at string, v any)
	walk = func(at string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		if branches, ok := object["anyOf"].([]any); ok && at != "" { // a property of more than one type
			for _, branch := range branches {
				assert.Contains(t, branch, "type", at)
				walk(at+"|", branch)
			}
		} else {
			assert.NotContains(t, object, "anyOf", at)
		}
		for _, key := range []string{"oneOf", "allOf", "$ref", "$defs", "not"} {
			assert.NotContains(t, object, key, at)
		}
		if arguments || object["properties"] == nil {
			assert.NotContains(t, object, "additionalProperties", at)
		} else {
			assert.Equal(t, true, object["additionalProperties"], "%s: clients drop fields that have no schema", at)
		}
		if typ, ok := object["type"]; ok {
			assert.IsType(t, "", typ, "%s: a type is one name", at)
		}
		if object["type"] == "array" && arguments {
			assert.Contains(t, object, "items", at)
		}
		for name, p := range asObject(object["properties"]) {
			assert.Regexp(t, toolName, name)
			walk(at+"."+name, p)
		}
		walk(at+"[]", object["items"])
	}
	walk("", schema)
	var parsed jsonschema.Schema
	require.NoError(t, json.Unmarshal(raw, &parsed))
	_, err := parsed.Resolve(nil)
	require.NoError(t, err)
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

// The definitions are part of the interface: changes must be intentional.
func TestToolSnapshots(t *testing.T) {
	for _, tool := range tools.All() {
		t.Run(tool.Name, func(t *testing.T) {
			got, err := json.MarshalIndent(definition(tool, Settings{ResultBytes: 20 << 10}.tools()), "", "  ")
			require.NoError(t, err)
			file := filepath.Join("testdata", "tools", tool.Name+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o600))
				return
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run go test ./mcp -update")
			assert.JSONEq(t, string(want), string(got))
		})
	}
	files, err := filepath.Glob("testdata/tools/*.json")
	require.NoError(t, err)
	assert.Len(t, files, len(tools.All()), "a snapshot of a tool that is no more")
}

// checkOutput fails unless the structured content matches the tool's schema and contains no
// null where a client expects a list.
func checkOutput(t *testing.T, tool *tools.Tool, structured any) {
	t.Helper()
	data, err := json.Marshal(structured)
	require.NoError(t, err)
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(tool.OutputSchema(), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(data, &value))
	require.NoError(t, resolved.Validate(value))
	assert.NotContains(t, string(data), "null")
	if tool.Name == "read_note" || tool.Name == "edit_note" {
		return // one of two results, for one note or several
	}
	named := append(slices.Collect(maps.Keys(schema.Properties)), schema.Required...)
	for _, key := range presentKeys(reflect.TypeOf(structured)) {
		assert.Contains(t, named, key, "the schema names all that the tool always returns")
	}
}

// presentKeys returns the fields of a result that are always present.
func presentKeys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if key, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); options == "" {
			keys = append(keys, key)
		}
	}
	return keys
}
