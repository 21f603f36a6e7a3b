package daemon

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScanFindsMembers(t *testing.T) {
	tests := []struct {
		name, line         string
		id, method, params string
		result, failure    string
	}{
		{name: "request", line: `{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`, id: "7", method: `"ping"`, params: "{}"},
		{name: "other order and spaces", line: " {\t\"params\" : [ 1 , \"]\" ] , \"method\":\"m\",\"id\" : \"a\" }\r\n", id: `"a"`, method: `"m"`, params: `[ 1 , "]" ]`},
		{name: "escaped names", line: `{"\u0069d":1,"meth\u006fd":"x"}`, id: "1", method: `"x"`},
		{name: "nested names do not count", line: `{"params":{"id":1,"method":"no"},"method":"yes"}`, method: `"yes"`, params: `{"id":1,"method":"no"}`},
		{name: "names in strings do not count", line: `{"x":"\"id\":1,","id":2}`, id: "2"},
		{name: "the last of two counts", line: `{"id":1,"id":2}`, id: "2"},
		{name: "digits are kept", line: `{"id":12345678901234567890.00e+5}`, id: "12345678901234567890.00e+5"},
		{name: "null is a value", line: `{"id":null,"result":null}`, id: "null", result: "null"},
		{name: "error", line: `{"id":1,"error":{"code":-1,"message":"}"}}`, id: "1", failure: `{"code":-1,"message":"}"}`},
		{name: "backslash before the quote", line: `{"a":"\\","id":3}`, id: "3"},
		{name: "empty", line: `{}`},
		{name: "case matters", line: `{"ID":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line := []byte(tt.line)
			m, ok := scan(line)
			require.True(t, ok)
			assert.Equal(t, tt.id, string(m.id.of(line)), "id")
			assert.Equal(t, tt.method, string(m.method.of(line)), "method")
			assert.Equal(t, tt.params, string(m.params.of(line)), "params")
			assert.Equal(t, tt.result, string(m.result.of(line)), "result")
			assert.Equal(t, tt.failure, string(m.failure.of(line)), "error")
		})
	}
}

func TestScanRefusesWhatIsNoObject(t *testing.T) {
	for _, line := range []string{"", " ", "[]", "1", `"{}"`, "null", "{", `{"a`, `{}{}`, `{"a":1}}`, "\x00"} {
		_, ok := scan([]byte(line))
		assert.False(t, ok, "%q", line)
	}
}

func TestLookup(t *testing.T) {
	line := []byte(`{"params":{"_meta":{"a/b":{"c":[1]},"x":1},"_met\u0061":{"a/b":{"c":2}}}}`)
	m, _ := scan(line)
	assert.Equal(t, "2", string(lookup(line, m.params, "_meta", "a/b", "c").of(line)))
	assert.False(t, lookup(line, m.params, "_meta", "x").found(), "the last _meta counts")
	assert.False(t, lookup(line, span{}, "x").found())
	assert.False(t, lookup(line, m.params, "_meta", "a/b", "c", "d").found(), "a number has no members")
}

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
			m, _ := scan(line)
			got := withRequestKey(line, m.params, "k")
			assert.Equal(t, `{"id":1,"params":`+tt.want+`,"method":"tools/call"}`, string(got))
			assert.True(t, json.Valid(got))
		})
	}
	line := []byte(`{"id":1,"method":"tools/call"}`)
	assert.Equal(t, line, withRequestKey(line, span{}, "k"), "no params")
}

func TestParseID(t *testing.T) {
	tests := []struct {
		raw              string
		same             string // another spelling of the same id
		proper, survives bool
	}{
		{raw: "1", same: "1", proper: true, survives: true},
		{raw: "-0", same: "0", proper: true, survives: true},
		{raw: "-12", same: "-12", proper: true, survives: true},
		{raw: "9007199254740991", same: "9007199254740991", proper: true, survives: true},
		{raw: "9007199254740992", same: "9007199254740992", proper: true},
		{raw: "123456789012345678901234567890", same: "123456789012345678901234567890", proper: true},
		{raw: `"a"`, same: `"\u0061"`, proper: true, survives: true},
		{raw: `""`, same: `""`, proper: true, survives: true},
		{raw: `"notesd:1"`, same: `"notesd\u003a1"`, proper: true},
		{raw: "1.5"}, {raw: "1e3"}, {raw: "null"}, {raw: "true"}, {raw: "{}"}, {raw: "[1]"}, {raw: ""}, {raw: "-"},
	}
	for _, tt := range tests {
		id, proper := parseID([]byte(tt.raw))
		assert.Equal(t, tt.proper, proper, tt.raw)
		if proper {
			assert.Equal(t, tt.survives, id.survives(), tt.raw)
			same, _ := parseID([]byte(tt.same))
			assert.Equal(t, id, same, tt.raw)
		}
	}
	number, _ := parseID([]byte("1"))
	word, _ := parseID([]byte(`"1"`))
	assert.NotEqual(t, number, word)
}

// FuzzScan holds the scanner against encoding/json: on every JSON object it
// finds the same members, and on anything else it stays within the line.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"progressToken":1}}}`,
		`{"\u0069d":"\"","method":"\\","params":[{"a":"}"},"]"]}`,
		`{"id":1,"id":2,"result":{},"error":null}`, `{"a":`, `[{}]`, `{"":""}`, "{\"id\"\n:\t1 }",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, ok := scan(line)
		for _, at := range []span{m.id, m.method, m.params, m.result, m.failure} {
			require.LessOrEqual(t, at.from, at.to)
			require.LessOrEqual(t, at.to, len(line))
		}
		if !json.Valid(line) {
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(line, &want) != nil || want == nil {
			require.False(t, ok)
			return
		}
		require.True(t, ok)
		for name, at := range map[string]span{
			"id": m.id, "method": m.method, "params": m.params, "result": m.result, "error": m.failure,
		} {
			require.Equal(t, string(want[name]), string(at.of(line)), name)
		}
		checkSplices(t, line, m, want)
	})
}

// checkSplices checks that what the relay puts into a line changes nothing else.
func checkSplices(t *testing.T, line []byte, m message, want map[string]json.RawMessage) {
	if m.id.found() {
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(replaceSpan(line, m.id, `"x"`), &got))
		require.Equal(t, `"x"`, string(got["id"]))
		for name, value := range want {
			if name != "id" {
				require.Equal(t, string(value), string(got[name]))
			}
		}
	}
	keyed := withRequestKey(line, m.params, "k")
	require.True(t, json.Valid(keyed))
	before, after := decoded(t, line).(map[string]any), decoded(t, keyed).(map[string]any)
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
}

// decoded is the JSON value in raw. Numbers keep their digits: JSON has some,
// 1e999 for one, that no Go number can hold.
func decoded(t *testing.T, raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"1", "-0", `"a"`, `"\u0061"`, "1.5", "null", "1e999", `"notesd:1"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, ok := parseID(raw)
		if !ok || !json.Valid(raw) || len(bytes.TrimSpace(raw)) != len(raw) {
			return // the scanner gives ids without the space around them
		}
		v := decoded(t, raw)
		if id.numeric {
			require.Equal(t, json.Number(raw), v)
		} else if !strings.ContainsRune(id.text, '\ufffd') && json.Valid(raw) {
			require.Equal(t, v, id.text)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	big, _ := json.Marshal(strings.Repeat("a note with \"quotes\" and\nlines ", 700))
	for _, bench := range []struct{ name, line string }{
		{"call", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_notes","arguments":{"query":"x y z","limit":10}}}`},
		{"result of 23 KB", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":` + string(big) + `}]}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			line := []byte(bench.line)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, ok := scan(line); !ok {
					b.Fatal("not scanned")
				}
			}
		})
	}
}

// A note's text is one string with an escape for each line. The bound is several
// hundred times what a linear scan needs, and a tenth of what one needs that
// searches for the closing quote after every escape.
func TestScanOfManyEscapes(t *testing.T) {
	for name, text := range map[string]string{
		"newlines":    strings.Repeat(`a\n`, 1_000_000),
		"backslashes": strings.Repeat(`\\`, 1_000_000),
		"quotes":      strings.Repeat(`\"`, 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			line := []byte(`{"method":"m","params":{"arguments":{"content":"` + text + `"},"_meta":{"x":1}},"id":7}`)
			began := time.Now()
			m, ok := scan(line)
			require.True(t, ok)
			assert.Equal(t, "7", string(m.id.of(line)))
			assert.Equal(t, "1", string(lookup(line, m.params, "_meta", "x").of(line)))
			assert.Less(t, time.Since(began), 3*time.Second)
		})
	}
}
