package canvas

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Edit edits the canvas called name: it calls card with the name and the text of each
// card that may have a link or tag, and other with the other string values of nodes, after the
// file that the node shows and the key. It returns nil if the text is not JSON or an edit fails.
func Edit(name string, text []byte, card func(name string, text []byte) ([]byte, error), other func(file, key, value string) (string, error)) []byte {
	if !json.Valid(text) { // also bounds the nesting
		return nil
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil
	}
	nodes, _ := member(root, "nodes").Value.(*hujson.Array)
	if nodes == nil {
		return text
	}
	for _, node := range nodes.Elements {
		fields, ok := node.Value.(*hujson.Object)
		if !ok {
			continue
		}
		file, _ := member(node, "file").Value.(hujson.Literal)
		for i := range fields.Members {
			field := &fields.Members[i]
			literal, ok := field.Value.Value.(hujson.Literal)
			if !ok || literal.Kind() != '"' {
				continue
			}
			key, value := field.Name.Value.(hujson.Literal).String(), literal.String()
			var to string
			switch {
			case key != "text":
				to, err = other(file.String(), key, value)
			case !strings.ContainsAny(value, "[#") || strings.ContainsRune(value, utf8.RuneError):
				continue // an escape that is not a valid character could not be written back
			default:
				var edited []byte
				edited, err = card(name, []byte(value))
				to = string(edited)
			}
			if err != nil {
				return nil
			}
			if to != value {
				field.Value.Value = hujson.String(to)
			}
		}
	}
	return root.Pack()
}

// member returns the value of an object's member, the last one if the name is repeated.
func member(object hujson.Value, name string) (value hujson.Value) {
	if fields, ok := object.Value.(*hujson.Object); ok {
		for _, m := range fields.Members {
			if m.Name.Value.(hujson.Literal).String() == name {
				value = m.Value
			}
		}
	}
	return value
}
