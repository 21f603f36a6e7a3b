package markdown

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestProse_Encoded(t *testing.T) {
	for seed := range uint64(200) {
		data := randomBytes(seed, 48+int(seed))
		for name, run := range map[string]string{
			"base64":     base64.StdEncoding.EncodeToString(data),
			"base64 URL": base64.RawURLEncoding.EncodeToString(data),
			"long hex":   hex.EncodeToString(randomBytes(seed, 200)),
			"data URI":   "data:image/svg+xml;charset=utf-8,%3Csvg" + strings.Repeat("%20x", 20),
			"data":       "data:image/png;base64," + base64.StdEncoding.EncodeToString(data),
		} {
			got := Prose("before (" + run + ") after\n")
			require.Equal(t, []string{"before", "(", ")", "after"}, strings.Fields(got), "%s %d %s", name, seed, run)
			require.Len(t, got, len(run)+len("before () after\n"))
		}
	}
}

func TestProse_Lines(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString(randomBytes(1, 171))
	var lines []string
	for i := 0; i < len(encoded); i += 76 {
		lines = append(lines, encoded[i:min(len(encoded), i+76)])
	}
	for _, newline := range []string{"\n", "\r\n"} {
		text := strings.Join(append(append([]string{"begin"}, lines...), "end", ""), newline)
		got := Prose(text)
		assert.Equal(t, []string{"begin", "end"}, strings.Fields(got))
		assert.Equal(t, strings.Count(text, newline), strings.Count(got, newline))
	}
}

func TestProse_WordsStay(t *testing.T) {
	for _, text := range []string{
		"",
		strings.Repeat("word ", 100),
		strings.Repeat("-", 200), strings.Repeat("=", 200), strings.Repeat("|---", 100),
		"https://example.com/Some-Long-Title-Of-A-Page/With-Many-Words-In-It/2024/And-Another-Part-3",
		"https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch_test.go",
		"donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
		"TheQuickBrownFoxJumpsOverTheLazyDogAndThenGoesHomeToSleepUntilTomorrow2",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 is a hash that people search for",
		strings.Repeat("a1B2", 40), strings.Repeat("GATTACA", 1000), strings.Repeat("0123456789", 50),
		"data: the plural of datum; data:image/png, and data:text/plain;base64,short",
		strings.Repeat("長い文章", 200),
		"```json\n{\"a\": 1}\n```\n", "## Drawing\nof a house\n",
		"550e8400-e29b-41d4-a716-446655440000/550e8400-e29b-41d4-a716-446655440000",
		"/home/ann/Documents/Projects/2024/Reports/Quarter1/Final/Version3/Attachments",
	} {
		assert.Equal(t, text, Prose(text))
	}
}

const excalidraw = `---
excalidraw-plugin: parsed
tags: [excalidraw]
---
==Switch to EXCALIDRAW VIEW==

%%
# Excalidraw Data
## Text Elements
Pelican crossing ^Ab3dEf9h

%%
## Drawing
`

func TestProse_Drawing(t *testing.T) {
	for _, drawing := range []string{
		"```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQgEYA6bGwC2CgF7N6hbEcK4OCtptbErHALRY8RMpWdx8Q1TdIEfARcZgRmBShcZQUebQBGADZtGjoghH0EDihmbgBtcDBQMBKIEm4IOIBNAGEAMQA1\n\nshort\n```\n%%",
		"```json\n{\n\t\"type\": \"rectangle\",\n\t\"strokeColor\": \"#1e1e1e\"}\n```\n%%",
	} {
		text := excalidraw + drawing
		got := Prose(text)
		assert.Equal(t, excalidraw, got[:len(excalidraw)], "text elements are words")
		assert.Empty(t, strings.TrimSpace(got[len(excalidraw):]))
		assert.Len(t, got, len(text))
	}
	text := "text\n```compressed-json\nwords of no one\n```\nmore\n"
	assert.Equal(t, "text\n```compressed-json\n               \n```\nmore\n", Prose(text))
	for _, own := range []string{"---\ntags: [a]\n---\n## Drawing\nwith a pencil\n", "excalidraw-plugin: parsed\n## Drawing\nwith a pencil\n"} {
		assert.Equal(t, own, Prose(own), "a heading of the user")
	}
	open := "```compressed-json\nopen"
	assert.Equal(t, "```compressed-json\n    ", Prose(open))
}

func FuzzProse(f *testing.F) {
	f.Add(excalidraw)
	f.Add(base64.StdEncoding.EncodeToString(randomBytes(1, 500)))
	f.Add("data:image/png;base64," + strings.Repeat("A", 70))
	f.Fuzz(func(t *testing.T, text string) {
		prose := Prose(text)
		require.Len(t, prose, len(text))
		for i := range len(text) {
			if prose[i] != text[i] && (prose[i] != ' ' || text[i] == '\n' || text[i] == '\r') {
				t.Fatalf("byte %d: %q became %q", i, text[i], prose[i])
			}
		}
		longest := 0
		for _, word := range strings.Fields(text) {
			longest = max(longest, len(word))
		}
		if longest < 16 && !strings.Contains(text, "compressed-json") && !strings.Contains(text, "excalidraw-plugin:") {
			require.Equal(t, text, prose, "short words are words")
		}
	})
}

func BenchmarkProse(b *testing.B) {
	for name, text := range map[string]string{
		"words":  strings.Repeat("Some words of a note that is not short.\n", 25_000),
		"base64": base64.StdEncoding.EncodeToString(randomBytes(1, 750_000)),
		"almost": strings.Repeat(strings.Repeat("a", 63)+" ", 16_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Prose(text)
			}
		})
	}
}

// TestEncodedRuns_Places: a run is found at any offset, after spaces and multi-byte
// characters.
func TestEncodedRuns_Places(t *testing.T) {
	run := base64.StdEncoding.EncodeToString(randomBytes(1, minEncoded*3/4))
	for before := range 3 * minEncoded {
		for _, filler := range []string{"a b", "word ", "\n", "中", "é ", ",.;"} {
			text := strings.Repeat(filler, before)[:before*len(filler)/3] + " " + run + " and so on"
			at := strings.Index(text, run)
			assert.Equal(t, [][2]int{{at, at + len(run)}}, encodedRuns(text), "%d of %q", before, filler)
		}
	}
}

func TestWithoutDefinitions(t *testing.T) {
	for _, definition := range []string{
		"[plan]: ../Work/plan.md 'The Plan'",
		"[b c]: <b c.md>",
		"   [a]: a%20b.md (A)",
		"[a#b]: a.md#b \"A\"",
	} {
		space := strings.Repeat(" ", len(definition))
		assert.Equal(t, space, WithoutDefinitions(definition))
		assert.Equal(t, "a\r\n"+space+"\r\n"+space+"\nb", WithoutDefinitions("a\r\n"+definition+"\r\n"+definition+"\nb"))
	}
	for _, text := range []string{
		"[Anna]: yes",
		"[1]: https://example.com/plan.md 'Paper'",
		"[^1]: plan.md",
		"see [plan]: plan.md",
		"[plan]: plan.md has more words",
		"    [code]: plan.md",
		"[a\nb]: plan.md",
		"- [ ] [a]: b.md",
	} {
		assert.Equal(t, text, WithoutDefinitions(text))
	}
}
