package markdown

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOutline(t *testing.T) {
	for src, want := range map[string][]string{
		"## H\n\t- [[a]]\n\t- [[b]]\n\t\t- [[c]]\n\t- [[d]]\n## I\n\t- [[e]]\n": {"wikilink a", "wikilink b", "wikilink c", "wikilink d", "wikilink e"},
		"p:: q\n\n\t- [[a]]\n\n\t- [[b]]\n":                                     {"wikilink a", "wikilink b"},
		"# H\r\n\t- [[a]]\r\n\t  [[b]]\r\n":                                     {"wikilink a", "wikilink b"},
		"# H\n\t- x\n\t  ```\n\t  [[no]]\n\t  ```\n\t- [[a]]\n":                 {"wikilink a"},
		"# H\n\t\t- [[a]]\n\t- [[b]]\n":                                         {"wikilink a", "wikilink b"},
		"```\nx\n```\n\t- [[a]]\n":                                              {"wikilink a"},
		// Code remains code.
		"# H\n\t[[no]]\n":                nil,
		"# H\n    - [[no]]\n":            nil,
		"# H\n\t* [[no]]\n":              nil,
		"# H\n\t-[[no]]\n":               nil,
		"# H\n\tcode\n\t- [[no]]\n":      nil,
		"# H\n\n\t- x\n\n\t\t\t[[no]]\n": nil,
		"\t- - -\n":                      nil,
		"```\n\t- [[no]]\n```\n":         nil,
		"text\n\t- [[a]]\n":              {"wikilink a"}, // continues the paragraph
		"> # H\n>\t\t- [[no]]\n":         nil,
	} {
		assert.Equal(t, want, describe(Parse([]byte(src))), "%q", src)
	}
}

func TestTasksAndHeadingsOfAnOutline(t *testing.T) {
	src := "# H\n\t- TODO one\n\t- [ ] two #tag\n\t- DONE three\n\t\t- ## Inside\n\t- text ^id\n\nend\n"
	doc := Parse([]byte(src))
	assert.Len(t, doc.Tasks, 3)
	assert.Equal(t, []string{"tag"}, doc.Tags)
	assert.Len(t, doc.Headings, 2)
	assert.Len(t, doc.Blocks, 1)
}
