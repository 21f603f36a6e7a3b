package notestest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Spec describes a vault to generate. Equal specs produce equal vaults.
type Spec struct {
	Notes   int
	Bytes   int // approximate size of all notes together; 0: 7000 per note
	Words   int // size of the vocabulary; 0: 60 000
	Folders int // 0: 30
	Seed    uint64
}

func (s Spec) withDefaults() Spec {
	if s.Bytes == 0 {
		s.Bytes = s.Notes * 7000
	}
	if s.Words == 0 {
		s.Words = 60_000
	}
	if s.Folders == 0 {
		s.Folders = 30
	}
	return s
}

// firstDay is the date of the oldest generated note.
var firstDay = time.Date(2020, 1, 1, 9, 0, 0, 0, time.UTC)

// Generate writes the vault of a spec into dir, which must exist.
func Generate(dir string, spec Spec) error {
	g := newGenerator(spec)
	for i := range g.spec.Notes {
		path := filepath.Join(dir, filepath.FromSlash(g.path(i)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(g.note(i)), 0o644); err != nil {
			return err
		}
		at := g.day(i)
		if err := os.Chtimes(path, at, at); err != nil {
			return err
		}
	}
	return nil
}

// Queries returns n queries for the vault of a spec. Like real queries they have one to
// five words that are rarer than the average word of a note.
func Queries(spec Spec, n int) []string {
	g := newGenerator(spec)
	rng := rand.New(rand.NewPCG(g.spec.Seed, 2))
	queries := make([]string, n)
	for i := range queries {
		words := make([]string, 1+rng.IntN(5))
		for j := range words {
			// Uniform over the logarithm of the rank.
			words[j] = g.words[int(math.Exp(rng.Float64()*math.Log(float64(len(g.words)))))-1]
		}
		queries[i] = strings.Join(words, " ")
	}
	return queries
}

// generator creates notes in numerical order.
type generator struct {
	spec   Spec
	rng    *rand.Rand
	words  []string
	common *rand.Zipf
	titles []string
}

func newGenerator(spec Spec) *generator {
	spec = spec.withDefaults()
	rng := rand.New(rand.NewPCG(spec.Seed, 1))
	g := &generator{spec: spec, rng: rng, words: vocabulary(rng, spec.Words)}
	// English prose has s = 1.07.
	g.common = rand.NewZipf(rng, 1.07, 2.7, uint64(len(g.words)-1))
	g.titles = make([]string, spec.Notes)
	for i := range g.titles {
		g.titles[i] = fmt.Sprintf("%s %s %d", capital(g.anyWord()), g.anyWord(), i)
	}
	return g
}

// vocabulary returns n different invented words of one to five syllables.
func vocabulary(rng *rand.Rand, n int) []string {
	const onsets, vowels, codas = "b c d f g h j k l m n p r s t v w z br st tr pl", "a e i o u ai ea ou", " n r s t l m nd st"
	on, vo, co := strings.Split(onsets, " "), strings.Split(vowels, " "), strings.Split(codas, " ")
	seen := make(map[string]bool, n)
	words := make([]string, 0, n)
	for len(words) < n {
		var b strings.Builder
		for range 1 + rng.IntN(2) + len(words)*3/n { // common words are short
			b.WriteString(on[rng.IntN(len(on))] + vo[rng.IntN(len(vo))] + co[rng.IntN(len(co))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

func (g *generator) word() string    { return g.words[g.common.Uint64()] }
func (g *generator) anyWord() string { return g.words[g.rng.IntN(len(g.words))] }

func (g *generator) path(i int) string {
	return fmt.Sprintf("Folder %02d/%s.md", i%g.spec.Folders, g.titles[i])
}

func (g *generator) day(i int) time.Time { return firstDay.Add(time.Duration(i) * 4 * time.Hour) }

// note writes the i-th note.
func (g *generator) note(i int) string {
	var b strings.Builder
	if g.rng.IntN(3) > 0 {
		fmt.Fprintf(&b, "---\ndate: %s\ntags: [%s, %s]\nstatus: %s\n---\n",
			g.day(i).Format(time.DateOnly), g.tag(), g.tag(), []string{"open", "done", "later"}[g.rng.IntN(3)])
	}
	fmt.Fprintf(&b, "# %s\n", g.titles[i])
	// Lengths are log-normal with this mean, as in real vaults.
	mean := float64(g.spec.Bytes) / float64(max(1, g.spec.Notes))
	length := int(mean * math.Exp(0.8*g.rng.NormFloat64()-0.32))
	for b.Len() < length {
		g.section(&b, i, length)
	}
	return b.String()
}

func (g *generator) tag() string { return g.words[200+int(g.common.Uint64())%300] }

// section writes a heading and up to four blocks, fewer if the note has reached its
// length.
func (g *generator) section(b *strings.Builder, i, length int) {
	fmt.Fprintf(b, "\n## %s %s\n", capital(g.word()), g.anyWord())
	for blocks := 1 + g.rng.IntN(4); blocks > 0 && b.Len() < length; blocks-- {
		switch g.rng.IntN(12) {
		case 0:
			fmt.Fprintf(b, "\n- [ ] %s\n- [x] %s\n", g.sentence(6, i), g.sentence(5, i))
		case 1:
			fmt.Fprintf(b, "\n```go\n%s := %s(%d) // #%s\n```\n", g.anyWord(), g.anyWord(), g.rng.IntN(1000), g.anyWord())
		default:
			b.WriteByte('\n')
			for range 2 + g.rng.IntN(5) {
				b.WriteString(g.sentence(8+g.rng.IntN(14), i) + " ")
			}
			b.WriteByte('\n')
		}
	}
}

// sentence returns n words, some of them a link or a tag.
func (g *generator) sentence(n, i int) string {
	words := make([]string, n)
	for j := range words {
		words[j] = g.word()
	}
	words[0] = capital(words[0])
	switch g.rng.IntN(20) {
	case 0:
		words[n/2] = "[[" + g.linked(i) + "]]"
	case 1:
		words[n-1] = "#" + g.tag()
	}
	return strings.Join(words, " ") + "."
}

// linked picks an older note, preferring the oldest, so that hubs emerge.
func (g *generator) linked(i int) string {
	if i == 0 {
		return g.titles[0]
	}
	return g.titles[int(float64(i)*math.Pow(g.rng.Float64(), 3))]
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
