package relay

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/jsonrpc"
)

func TestWithRequestKey(t *testing.T) {
	tests := []struct{ name, params, want string }{
		{"no _meta", `{"name":"t"}`, `{"_meta":{"notesd/requestKey":"k"},"name":"t"}`},
		{"empty params", `{ }`, `{"_meta":{"notesd/requestKey":"k"} }`},
		{"a _meta", `{"name":"t","_meta":{"progressToken":1}}`, `{"name":"t","_meta":{"notesd/requestKey":"k","progressToken":1}}`},
		{"an empty _meta", `{"_meta":{}}`, `{"_meta":{"notesd/requestKey":"k"}}`},
		{"an escaped _meta", `{"\u005fmeta":{"a":1}}`, `{"\u005fmeta":{"notesd/requestKey":"k","a":1}}`},
		{"two _meta", `{"_meta":{},"_meta":{"a":1}}`, `{"_meta":{},"_meta":{"notesd/requestKey":"k","a":1}}`},
		{"a key of the client's own", `{"_meta":{"notesd/requestKey":"mine"}}`, `{"_meta":{"notesd/requestKey":"mine"}}`},
		{"a wrong _meta", `{"_meta":3}`, `{"_meta":3}`},
		{"wrong params", `[1]`, `[1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := []byte(`{"id":1,"params":` + tt.params + `,"method":"tools/call"}`)
			m, _ := jsonrpc.Scan(line)
			got := withRequestKey(line, m.Params, "k")
			assert.Equal(t, `{"id":1,"params":`+tt.want+`,"method":"tools/call"}`, string(got))
			assert.True(t, json.Valid(got))
		})
	}
	line := []byte(`{"id":1,"method":"tools/call"}`)
	assert.Equal(t, line, withRequestKey(line, jsonrpc.Span{}, "k"), "no params")
}

// FuzzWithRequestKey checks that adding the key changes nothing else in a line.
func FuzzWithRequestKey(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":1}}}`,
		`{"\u0069d":"\"","method":"\\","params":[{"a":"}"},"]"]}`, `{"params":{ }}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, ok := jsonrpc.Scan(line)
		if !ok || !json.Valid(line) {
			return
		}
		keyed := withRequestKey(line, m.Params, "k")
		require.True(t, json.Valid(keyed))
		before, after := jsonValue(t, line).(map[string]any), jsonValue(t, keyed).(map[string]any)
		if params, ok := after["params"].(map[string]any); ok && !bytes.Equal(line, keyed) {
			meta := params["_meta"].(map[string]any)
			require.Equal(t, "k", meta[RequestKeyMeta])
			delete(meta, RequestKeyMeta)
			if _, had := before["params"].(map[string]any)["_meta"]; !had {
				require.Empty(t, meta)
				delete(params, "_meta")
			}
		}
		require.Equal(t, before, after)
	})
}

// jsonValue decodes the JSON value in raw. Numbers keep their digits, because JSON
// allows numbers that no Go type can represent, such as 1e999.
func jsonValue(t *testing.T, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}
