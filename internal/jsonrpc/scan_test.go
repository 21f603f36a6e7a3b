package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

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
			m, ok := Scan(line)
			require.True(t, ok)
			assert.Equal(t, tt.id, string(m.ID.Of(line)), "id")
			assert.Equal(t, tt.method, string(m.Method.Of(line)), "method")
			assert.Equal(t, tt.params, string(m.Params.Of(line)), "params")
			assert.Equal(t, tt.result, string(m.Result.Of(line)), "result")
			assert.Equal(t, tt.failure, string(m.Failure.Of(line)), "error")
		})
	}
}

func TestScanRefusesWhatIsNoObject(t *testing.T) {
	for _, line := range []string{"", " ", "[]", "1", `"{}"`, "null", "{", `{"a`, `{}{}`, `{"a":1}}`, "\x00"} {
		_, ok := Scan([]byte(line))
		assert.False(t, ok, "%q", line)
	}
}

func TestLookup(t *testing.T) {
	line := []byte(`{"params":{"_meta":{"a/b":{"c":[1]},"x":1},"_met\u0061":{"a/b":{"c":2}}}}`)
	m, _ := Scan(line)
	assert.Equal(t, "2", string(Lookup(line, m.Params, "_meta", "a/b", "c").Of(line)))
	assert.False(t, Lookup(line, m.Params, "_meta", "x").Found(), "the last _meta counts")
	assert.False(t, Lookup(line, Span{}, "x").Found())
	assert.False(t, Lookup(line, m.Params, "_meta", "a/b", "c", "d").Found(), "a number has no members")
}

func TestParseID(t *testing.T) {
	tests := []struct {
		raw           string
		same          string // another spelling of the same id
		proper, exact bool   // exact: a number that all implementations represent exactly
	}{
		{raw: "1", same: "1", proper: true, exact: true},
		{raw: "-0", same: "0", proper: true, exact: true},
		{raw: "-12", same: "-12", proper: true, exact: true},
		{raw: "9007199254740991", same: "9007199254740991", proper: true, exact: true},
		{raw: "9007199254740992", same: "9007199254740992", proper: true},
		{raw: "123456789012345678901234567890", same: "123456789012345678901234567890", proper: true},
		{raw: `"a"`, same: `"\u0061"`, proper: true},
		{raw: `""`, same: `""`, proper: true},
		{raw: "1.5"}, {raw: "1e3"}, {raw: "null"}, {raw: "true"}, {raw: "{}"}, {raw: "[1]"}, {raw: ""}, {raw: "-"},
	}
	for _, tt := range tests {
		id, proper := ParseID([]byte(tt.raw))
		assert.Equal(t, tt.proper, proper, tt.raw)
		if proper {
			_, exact := id.Exact()
			assert.Equal(t, tt.exact, exact, tt.raw)
			same, _ := ParseID([]byte(tt.same))
			assert.Equal(t, id, same, tt.raw)
		}
	}
	number, _ := ParseID([]byte("1"))
	word, _ := ParseID([]byte(`"1"`))
	assert.NotEqual(t, number, word)
}

// FuzzScan compares the scanner with encoding/json: for every JSON object it finds the
// same members, and for anything else it stays within the line.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"progressToken":1}}}`,
		`{"\u0069d":"\"","method":"\\","params":[{"a":"}"},"]"]}`,
		`{"id":1,"id":2,"result":{},"error":null}`, `{"a":`, `[{}]`, `{"":""}`, "{\"id\"\n:\t1 }",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, ok := Scan(line)
		for _, at := range []Span{m.ID, m.Method, m.Params, m.Result, m.Failure} {
			require.LessOrEqual(t, at.From, at.To)
			require.LessOrEqual(t, at.To, len(line))
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
		for name, at := range map[string]Span{
			"id": m.ID, "method": m.Method, "params": m.Params, "result": m.Result, "error": m.Failure,
		} {
			require.Equal(t, string(want[name]), string(at.Of(line)), name)
		}
		checkSplices(t, line, m, want)
	})
}

// checkSplices checks that replacing an id changes nothing else.
func checkSplices(t *testing.T, line []byte, m Message, want map[string]json.RawMessage) {
	if m.ID.Found() {
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(Replace(line, m.ID, `"x"`), &got))
		require.Equal(t, `"x"`, string(got["id"]))
		for name, value := range want {
			if name != "id" {
				require.Equal(t, string(value), string(got[name]))
			}
		}
	}
}

// decoded decodes raw. Numbers keep their digits, because some JSON numbers, such as
// 1e999, have no Go representation.
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
		id, ok := ParseID(raw)
		if !ok || !json.Valid(raw) || len(bytes.TrimSpace(raw)) != len(raw) {
			return // the scanner trims space around ids
		}
		v := decoded(t, raw)
		if id.Numeric {
			require.Equal(t, json.Number(raw), v)
		} else if !strings.ContainsRune(id.Text, '\ufffd') && json.Valid(raw) {
			require.Equal(t, v, id.Text)
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
				if _, ok := Scan(line); !ok {
					b.Fatal("not scanned")
				}
			}
		})
	}
}

// The text of a note is one string with an escape for each line. A scan that searches for
// the closing quote after every escape would take an hour.
func TestScanOfManyEscapes(t *testing.T) {
	for name, text := range map[string]string{
		"newlines":    strings.Repeat(`a\n`, 10_000_000),
		"backslashes": strings.Repeat(`\\`, 10_000_000),
		"quotes":      strings.Repeat(`\"`, 10_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			line := []byte(`{"method":"m","params":{"arguments":{"content":"` + text + `"},"_meta":{"x":1}},"id":7}`)
			m, ok := Scan(line)
			require.True(t, ok)
			assert.Equal(t, "7", string(m.ID.Of(line)))
			assert.Equal(t, "1", string(Lookup(line, m.Params, "_meta", "x").Of(line)))
		})
	}
}
