package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// checkFrontMatterText rejects text that the decoding libraries would accept only in
// part, or for which they would need too much time or stack. An error comes with its
// line, or 0 if unknown.
func checkFrontMatterText(inner []byte) (int, error) {
	if !utf8.Valid(inner) {
		return 0, errNotUTF8
	}
	depth, column, line := 0, 0, 1
	blockDepth := 0
	lineStart := true
	for i, c := range inner {
		column++
		switch {
		case c == '\r' && (i+1 == len(inner) || inner[i+1] != '\n'):
			return line, errControl
		case c == '\n':
			column, blockDepth, lineStart = 0, 0, true
			line++
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(depth-1, 0)
		case c == ' ' || c == '\t' || c == '\r':
			continue
		case c < ' ' || c == 0x7f:
			return line, errControl
		case lineStart && (c == '-' || c == '?' || c == ':'):
			blockDepth++
		default:
			lineStart = false
		}
		if depth > maxOpen || blockDepth > MaxNesting || (lineStart && column > 4*MaxNesting) {
			return line, errTooDeep
		}
	}
	return 0, nil
}

// decodeYAML decodes the map in inner. An error comes with its line in inner, or 0.
func decodeYAML(inner []byte) (values map[string]any, line int, err error) {
	if len(bytes.TrimSpace(inner)) == 0 { // also with U+3000, which is no space in YAML
		return map[string]any{}, 0, nil
	}
	file, err := ParseYAML(inner)
	if err != nil {
		return nil, yamlErrorLine(err), YAMLError(err)
	}
	if len(file.Docs) > 1 {
		return nil, 0, errManyDocs
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return map[string]any{}, 0, nil
	}
	r := yamlReader{anchors: map[string]ast.Node{}, budget: maxValues}
	value, err := r.value(file.Docs[0].Body, 0)
	if err != nil {
		return nil, 0, err
	}
	switch value := value.(type) {
	case map[string]any:
		return value, 0, nil
	case nil:
		return map[string]any{}, 0, nil
	}
	return nil, 1, errNotMap
}

// placeholder matches a template's placeholder, such as {{date}}, which YAML would
// parse as a map used as a key, or as the end of the text before it.
var placeholder = regexp.MustCompile(`\{\{[^{}\n]*\}\}`)

// syntax lists the characters of a placeholder that have a meaning in YAML, and the
// tab. During parsing, each is replaced by its index here, a control character that
// front matter cannot contain.
const syntax = "\x00{}:#,[]\t"

// ParseYAML parses inner after converting its line breaks to "\n", because the library
// miscounts lines that end in "\r\n". Placeholders are read as text, as are tabs
// between words, which the library would drop.
func ParseYAML(inner []byte) (*ast.File, error) {
	text := bytes.ReplaceAll(inner, []byte("\r\n"), []byte("\n"))
	places := placeholder.FindAllIndex(text, -1)
	for _, p := range places {
		replaceSyntax(text[p[0]:p[1]])
	}
	tabs := bytes.IndexByte(text, '\t') >= 0
	for i, start, before := 0, 0, byte('\n'); tabs && i < len(text); i++ { // text[start:i] is white space after the byte before
		c := text[i]
		if c == ' ' || c == '\t' {
			continue
		}
		if strings.IndexByte("\n:-?,[{", before) < 0 && strings.IndexByte("\n#:,]}", c) < 0 {
			replaceSyntax(text[start:i])
		}
		start, before = i+1, c
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(places) == 0 && !tabs {
		return file, err
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			ast.Walk(restored{}, doc.Body)
		}
	}
	return file, nil
}

func replaceSyntax(text []byte) {
	for i, c := range text {
		if n := strings.IndexByte(syntax, c); n > 0 {
			text[i] = byte(n)
		}
	}
}

// restored visits the nodes of a document and reverts replaceSyntax.
type restored struct{}

func (v restored) Visit(node ast.Node) ast.Visitor {
	back := func(r rune) rune {
		if r > 0 && int(r) < len(syntax) {
			return rune(syntax[r])
		}
		return r
	}
	if s, ok := node.(*ast.StringNode); ok {
		s.Value = strings.Map(back, s.Value)
	}
	if t := node.GetToken(); t != nil {
		t.Value = strings.Map(back, t.Value)
	}
	return v
}

func yamlErrorLine(err error) int {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		return e.GetToken().Position.Line
	}
	return 0
}

// YAMLError returns the library's message without its source excerpt.
func YAMLError(err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		return fmt.Errorf("YAML: %s", e.GetMessage())
	}
	return fmt.Errorf("YAML: %w", err)
}

// yamlReader converts syntax trees to JSON-safe values.
type yamlReader struct {
	anchors map[string]ast.Node
	budget  int
}

func (r *yamlReader) value(node ast.Node, depth int) (any, error) {
	if r.budget--; r.budget < 0 {
		return nil, errTooMany
	}
	if depth > MaxNesting {
		return nil, errTooDeep
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode:
		return yamlInteger(n), nil
	case *ast.FloatNode:
		return finite(n.Value, n.Token.Value), nil
	case *ast.InfinityNode:
		return n.Token.Value, nil
	case *ast.NanNode:
		return n.Token.Value, nil
	case *ast.MappingNode:
		return r.mapping(n.Values, depth)
	case *ast.SequenceNode:
		return r.sequence(n, depth)
	case *ast.AnchorNode:
		return r.anchor(n, depth)
	case *ast.AliasNode:
		return r.alias(n, depth)
	case *ast.TagNode:
		return r.tagged(n, depth)
	}
	return nil, fmt.Errorf("YAML: unexpected %s", node.Type())
}

// yamlInteger returns an int64, or the text if the number does not fit or has leading
// zeros.
func yamlInteger(n *ast.IntegerNode) any {
	text := strings.TrimLeft(n.Token.Value, "+-")
	if len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' {
		return n.Token.Value
	}
	switch v := n.Value.(type) {
	case int64:
		return v
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
	}
	return n.Token.Value
}

func finite(f float64, text string) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return text
	}
	return f
}

func (r *yamlReader) sequence(n *ast.SequenceNode, depth int) (any, error) {
	out := make([]any, 0, len(n.Values))
	for _, item := range n.Values {
		v, err := r.value(item, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (r *yamlReader) mapping(pairs []*ast.MappingValueNode, depth int) (any, error) {
	out := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		v, err := r.value(pair.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if _, merge := pair.Key.(*ast.MergeKeyNode); merge {
			mergeInto(out, v)
			continue
		}
		key, err := YAMLKey(pair.Key)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

// mergeInto applies YAML's "<<"; keys already present take precedence.
func mergeInto(out map[string]any, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if _, taken := out[k]; !taken {
				out[k] = item
			}
		}
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				mergeInto(out, m)
			}
		}
	}
}

// YAMLKey returns the text of a key of a map.
func YAMLKey(node ast.MapKeyNode) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.MappingKeyNode:
		if s, ok := n.Value.(*ast.StringNode); ok {
			return s.Value, nil
		}
		return "", errors.New("YAML: a key is not text")
	}
	return node.GetToken().Value, nil
}

func (r *yamlReader) anchor(n *ast.AnchorNode, depth int) (any, error) {
	v, err := r.value(n.Value, depth+1)
	if n.Name != nil && n.Name.GetToken() != nil {
		r.anchors[n.Name.GetToken().Value] = n.Value
	}
	return v, err
}

func (r *yamlReader) alias(n *ast.AliasNode, depth int) (any, error) {
	if n.Value != nil && n.Value.GetToken() != nil {
		if node, ok := r.anchors[n.Value.GetToken().Value]; ok {
			return r.value(node, depth+1)
		}
	}
	return nil, errors.New("YAML: an alias refers to no anchor")
}

func (r *yamlReader) tagged(n *ast.TagNode, depth int) (any, error) {
	if n.Start != nil && n.Start.Value == "!!str" {
		if scalar, ok := n.Value.(ast.ScalarNode); ok && scalar.GetToken() != nil {
			return scalar.GetToken().Value, nil
		}
	}
	return r.value(n.Value, depth+1)
}
