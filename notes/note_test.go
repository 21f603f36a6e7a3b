package notes

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestNote_Lead(t *testing.T) {
	of := func(text string) (lead, rest string) {
		n := Parse("Boats.md", []byte(text), time.Time{})
		lead, end := n.Lead()
		return lead, n.Content[end:]
	}
	lead, rest := of("---\ntags: x\n---\n# Boats\n\nA boat\nfloats.\n\n## Kinds\n\n- punt\n" + strings.Repeat("word ", 40) + "last\nnot this")
	assert.Equal(t, "Boats\nA boat floats. - punt "+strings.TrimSpace(strings.Repeat("word ", 40)), lead)
	assert.Equal(t, " last\nnot this", rest)
	lead, rest = of("#boats are tags, not headings")
	assert.Equal(t, "Boats\n#boats are tags, not headings", lead)
	assert.Empty(t, rest)
	lead, _ = of(strings.Repeat("港", 1000))
	assert.True(t, utf8.ValidString(lead))
	assert.Len(t, lead, len("Boats\n")+leadBytes)
	lead, _ = of("")
	assert.Equal(t, "Boats", lead)
}

// TestTitleOf_Excalidraw checks that the heading with which every drawing begins is not
// used as a title.
func TestTitleOf_Excalidraw(t *testing.T) {
	n := Parse("Maps/Harbour.excalidraw.md", []byte("---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n"), time.Time{})
	assert.Equal(t, "Harbour.excalidraw", n.Title)
}

// Embedded data, such as a picture in base64, is not cut into passages.
func TestParse_EmbeddedData(t *testing.T) {
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
	n := Parse("A.md", []byte("# A\n\nbefore\n\n![](data:image/png;base64,"+strings.Repeat(picture, 1000)+")\n\nafter"), time.Time{})
	assert.Len(t, n.Chunks, 1)
}

// Blanked data of megabytes is replaced in one pass.
func TestLegible(t *testing.T) {
	blank := func(n int) string { return strings.Repeat(" ", n) }
	for prose, want := range map[string]string{
		"":                                       "",
		"a" + blank(39) + "b":                    "a" + blank(39) + "b",
		"a" + blank(40) + "b":                    "a … b",
		"a \r\n" + blank(1<<20) + " \n b":        "a … b",
		blank(90) + "a\n" + blank(41) + "\n":     " … a … ",
		"a" + blank(20) + "\n" + blank(20) + "b": "a" + blank(20) + "\n" + blank(20) + "b",
		blank(100):                               " … ",
	} {
		assert.Equal(t, want, Legible(prose, ""))
		assert.Equal(t, prose, Legible(prose, prose), "the author's own spaces stay")
	}
	original := "| Option" + blank(50) + "|\n" + strings.Repeat("A1+b", 20) + "\nafter"
	prose := "| Option" + blank(50) + "|\n" + blank(80) + "\nafter"
	assert.Equal(t, "| Option"+blank(50)+"| … after", Legible(prose, original))
}
