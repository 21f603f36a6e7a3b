package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// privateWords maps words that a Go reader has to decode to the standard ones.
var privateWords = []privateWord{
	avoid("told", "reported, notified or passed"),
	avoid("tells whether", "reports whether"),
	avoid("anew", "again, or the verb with re-"),
	avoid("by meaning", "semantic"),
	avoid("taken in", "reconciled, read or indexed"),
	avoid("for ever", "forever, or the bound"),
	avoid("of ours", "the owner's name"),
	avoid("nobody", "no caller, no client: name the party"),
	avoid("somebody", "a caller, a client: name the party"),
	avoid("whoever", "the caller, the client: name the party"),
	avoid("what there is", "the things meant"),
	avoid("all of a sudden", "the event that happened"),
	avoid("just now", "at the moment, now or meanwhile"),
	avoid("any more", "no longer"),
}

type privateWord struct {
	word, instead string
	pattern       *regexp.Regexp
}

func avoid(word, instead string) privateWord {
	return privateWord{word, instead, regexp.MustCompile(`\b` + word + `\b`)}
}

func TestWords_PrivateWords(t *testing.T) {
	for _, file := range scan(t, root) {
		if file.test {
			continue
		}
		for _, text := range file.texts() {
			for _, complaint := range privateWordsIn(text.text) {
				t.Errorf("%s:%d: %s", file.path, file.line(text.pos), complaint)
			}
		}
	}
}

func TestWords_Complaints(t *testing.T) {
	for text, want := range map[string][]string{
		"The owner is told.":               {`"told": say reported, notified or passed`},
		"it is taken\n// in by the vault":  {`"taken in": say reconciled, read or indexed`},
		"Nobody searches by meaning.":      {`"by meaning": say semantic`, `"nobody": say no caller, no client: name the party`},
		"The toldo reports whether it ran": nil,
	} {
		assert.Equal(t, want, privateWordsIn(text), text)
	}
}

type textAt struct {
	pos  token.Pos
	text string
}

// texts returns the comments and the string literals of a file.
func (s source) texts() []textAt {
	var all []textAt
	for _, group := range s.syntax.Comments {
		all = append(all, textAt{group.Pos(), group.Text()})
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			all = append(all, textAt{lit.Pos(), lit.Value})
		}
		return true
	})
	return all
}

var wordBreaks = regexp.MustCompile(`[\s/]+`)

// privateWordsIn returns a complaint for each private word in a text.
func privateWordsIn(text string) []string {
	text = wordBreaks.ReplaceAllString(strings.ToLower(text), " ")
	var complaints []string
	for _, w := range privateWords {
		if w.pattern.MatchString(text) {
			complaints = append(complaints, `"`+w.word+`": say `+w.instead)
		}
	}
	return complaints
}

// The documentation is held to the same words.
func TestWords_Documentation(t *testing.T) {
	for name, text := range documentation(t) {
		assert.Empty(t, privateWordsIn(text), name)
	}
}
