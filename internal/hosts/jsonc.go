package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// document is JSON text with comments and trailing commas. Its tree preserves every byte.
type document struct {
	text []byte
	root hujson.Value
	unit string // one level of indentation
}

func readJSON(text []byte, table string) (map[string]Server, error) {
	_, servers, err := serversOf(text, table)
	found := map[string]Server{}
	if servers == nil {
		return found, err
	}
	for _, m := range servers.Value.(*hujson.Object).Members {
		var s Server
		_ = decode(m.Value, &s) // fields of other types belong to another program
		found[m.Name.Value.(hujson.Literal).String()] = s
	}
	return found, nil
}

func setJSON(text []byte, table, name string, s Server, stdio bool) ([]byte, error) {
	d, servers, err := serversOf(text, table)
	if err != nil {
		return nil, err
	}
	if servers == nil {
		servers = d.set(&d.root, table, "{}")
	}
	entry, err := d.object(servers, name)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		entry = d.set(servers, name, "{}")
	}
	own := []member{{"command", s.Command}, {"args", s.Args}}
	if stdio {
		own = slices.Insert(own, 0, member{"type", "stdio"})
	}
	for _, m := range own {
		value := encode(m.value)
		if old := memberOf(entry, m.name); old == nil || !equal(*old, value) {
			d.set(entry, m.name, value)
		}
	}
	return d.root.Pack(), nil
}

// removeJSON removes all members with a name, with the comments that belong to them.
func removeJSON(text []byte, table, name string) ([]byte, error) {
	d, servers, err := serversOf(text, table)
	if err != nil {
		return nil, err
	}
	for servers != nil && memberOf(servers, name) != nil {
		obj := servers.Value.(*hujson.Object)
		comma := hasTrailingComma(obj)
		end := obj.AfterExtra[len(bytes.TrimRight(obj.AfterExtra, " \t\r\n")):]
		escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": "/" + escaped}})
		if err != nil {
			return nil, err
		}
		if err := servers.Patch(patch); err != nil { // not root's: of duplicate tables it would take the first
			return nil, err
		}
		if bytes.Contains(end, []byte("\n")) { // hujson keeps the indentation of the removed member
			obj.AfterExtra = slices.Concat(bytes.TrimRight(obj.AfterExtra, " \t\r\n"), end)
		}
		if len(obj.Members) == 0 {
			break
		}
		last := &obj.Members[len(obj.Members)-1].Value
		switch {
		case comma && last.AfterExtra == nil:
			last.AfterExtra = hujson.Extra{}
		case !comma:
			obj.AfterExtra = append(last.AfterExtra, obj.AfterExtra...)
			last.AfterExtra = nil
		}
	}
	return d.root.Pack(), nil
}

// hasTrailingComma reports whether a comma follows the last member, which hujson records as
// AfterExtra that is not nil.
func hasTrailingComma(obj *hujson.Object) bool {
	return len(obj.Members) > 0 && obj.Members[len(obj.Members)-1].Value.AfterExtra != nil
}

// member is a member of an entry that notesd writes.
type member struct {
	name  string
	value any
}

func equal(v hujson.Value, want string) bool {
	var a, b any
	return decode(v, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

// encode encodes a string or a list of strings.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // users read these paths
	_ = enc.Encode(v)        // cannot fail: strings only
	return b.String()
}

// decode decodes a value, ignoring comments.
func decode(v hujson.Value, into any) error {
	v = v.Clone()
	v.Standardize()
	return json.Unmarshal(v.Pack(), into)
}

// serversOf parses a text and returns its object of servers, or nil if there is none.
func serversOf(text []byte, table string) (*document, *hujson.Value, error) {
	d, err := parseJSON(text)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return nil, nil, errors.New("line 1: it is not a JSON object")
	}
	servers, err := d.object(&d.root, table)
	return d, servers, err
}

// firstIndent matches an object whose first member is on a line of its own.
var firstIndent = regexp.MustCompile(`\{\s*?\n(\t| {1,8})[^\s]`)

func parseJSON(text []byte) (*document, error) {
	d := &document{text: text, unit: "  "}
	if len(bytes.TrimSpace(d.text)) == 0 {
		d.text = []byte("{}\n")
	}
	if m := firstIndent.FindSubmatch(d.text); m != nil {
		d.unit = string(m[1])
	}
	var err error
	if d.root, err = hujson.Parse(d.text); err != nil {
		message := strings.TrimPrefix(err.Error(), "hujson: ")
		if errors.Is(err, io.ErrUnexpectedEOF) {
			place, _, _ := strings.Cut(message, ": ")
			message = place + ": the file ends before everything in it is closed"
		}
		return nil, errors.New(message)
	}
	return d, nil
}

// object returns the member with that name as an object, or nil if there is none or it is
// null.
func (d *document) object(parent *hujson.Value, name string) (*hujson.Value, error) {
	v := memberOf(parent, name)
	if v == nil || equal(*v, "null") {
		return nil, nil
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("line %d: %q is not an object", d.line(v.StartOffset), name)
	}
	return v, nil
}

// memberOf returns the value of an object's member; of duplicates the last one, as hosts
// do.
func memberOf(parent *hujson.Value, name string) *hujson.Value {
	members := parent.Value.(*hujson.Object).Members
	for i := range slices.Backward(members) {
		if members[i].Name.Value.(hujson.Literal).String() == name {
			return &members[i].Value
		}
	}
	return nil
}

func (d *document) line(at int) int { return 1 + bytes.Count(d.text[:at], []byte("\n")) }

// set replaces a member's value, or adds a member at the end of an object, and returns the
// value. Comments before it do not become its own, and a trailing comma follows the last member
// if there was one.
func (d *document) set(parent *hujson.Value, name, value string) *hujson.Value {
	obj := parent.Value.(*hujson.Object)
	d.root.UpdateOffsets()
	d.text = d.root.Pack()
	if old := memberOf(parent, name); old != nil {
		old.Value = layOut(value, d.indentAt(old.StartOffset), d.unit)
		return old
	}
	outer := d.indentAt(parent.StartOffset)
	indent := outer + d.unit
	before := bytes.TrimRight(slices.Clone(obj.AfterExtra), " \t\r\n")
	if bytes.ContainsAny(before, "\n*") { // more than a // comment on the line of the last member
		before = append(before, '\n') // a blank line, so that hujson does not remove these comments with the member
	}
	added := hujson.ObjectMember{
		Name: hujson.Value{
			BeforeExtra: append(before, "\n"+indent...),
			Value:       hujson.String(name),
		},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: layOut(value, indent, d.unit)},
	}
	if hasTrailingComma(obj) {
		added.Value.AfterExtra = hujson.Extra{}
	}
	obj.Members = append(obj.Members, added)
	obj.AfterExtra = hujson.Extra("\n" + outer)
	return &obj.Members[len(obj.Members)-1].Value
}

// layOut returns a value with indentation.
func layOut(value, indent, unit string) hujson.ValueTrimmed {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(value), indent, unit) // encode returns valid JSON
	v, _ := hujson.Parse(b.Bytes())
	return v.Value
}

// indentAt returns the white space at the start of the line at an offset.
func (d *document) indentAt(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
