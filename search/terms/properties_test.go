package terms_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"

	"notesd/search/terms"
)

func termsOf(text string) []string {
	var all []string
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range terms.Expand(nil, text, s) {
			all = append(all, t.Text)
		}
	}
	return all
}

// samples are words and runs of many scripts, and connectors.
var samples = strings.Fields(`apple Running e-mail node.js snake_case v1.2.3 2026-01-15 John's l'été U.S.A. C++ f# user@example.com AT&T
	über Straße Łódź naïve œuvre Đà Nẵng ỗ Ёлка Київ Ὀδυσσεύς مُحَمَّد أحمد שָׁלוֹם हिन्दी क़लम ภาษาไทย ລາວ ភាសា မြန်မာ 机器学习 がぎぐ カタカナ ｶﾞｷﾞ 한국어 日本 🚀 ✅
	iPhone parseHTTPRequest PDFs 0xDEADBEEF iPhone手机 don't O'Brien 3.14 1,000`)

func someText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(samples[r.IntN(len(samples))])
		b.WriteString([]string{" ", "\n", ", ", " - ", "/", "(", "…"}[r.IntN(7)])
	}
	return b.String()
}

// The terms of a text are those of its parts, and do not depend on its Unicode composition.
func TestTerms_OfParts(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := someText(r), someText(r)
		assert.Equal(t, slices.Concat(termsOf(a), termsOf(b)), termsOf(a+" "+b), "%q and %q", a, b)
		assert.Equal(t, termsOf(norm.NFC.String(a)), termsOf(norm.NFD.String(a)), "%q", a)
		assert.Equal(t, termsOf(a), termsOf("«"+a+"»"), "%q in quotes", a)
	}
}

// Case matters only for splitting words, so lower-case text has the same terms in capitals.
func TestTerms_OfCapitals(t *testing.T) {
	for _, s := range samples {
		small := strings.ToLower(s)
		if len(termsOf(small)) == 1 && !strings.Contains(small, "ß") { // ß has no capital
			assert.Equal(t, termsOf(small), termsOf(strings.ToUpper(small)), s)
		}
	}
}

// TestTerms_Grams compares the terms of scripts without spaces with all n-grams of two or four
// characters and the shorter ones at the end.
func TestTerms_Grams(t *testing.T) {
	for _, c := range []struct {
		letters string
		n       int
	}{{"机器学习中文日本语ひらがな", 2}, {"한국어사전", 2}, {"กขคงจฉชซ", 4}} {
		letters := []rune(c.letters)
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 2))
			run := make([]rune, 1+r.IntN(12))
			for i := range run {
				run[i] = letters[r.IntN(len(letters))]
			}
			var want []string
			for i := range run {
				want = append(want, string(run[i:min(i+c.n, len(run))]))
			}
			assert.Equal(t, want, termsOf(string(run)))

			text := string(run)
			s, ok := terms.NextSpan(text, 0)
			assert.True(t, ok)
			assert.Equal(t, len(text), s.End)
			var initials [256]bool
			initials[terms.Initial(want[0])] = true
			var of []string
			for _, g := range terms.GramsFrom(nil, text, s, &initials) {
				of = append(of, g.Text)
				assert.Equal(t, utf8.RuneCountInString(g.Text) < c.n, g.Short)
			}
			assert.Equal(t, slices.DeleteFunc(want, func(w string) bool { return terms.Initial(w) != terms.Initial(want[0]) }), of)
		}
	}
}

// The range of a term is that of its word, so that hits can be marked.
func TestTerms_Places(t *testing.T) {
	for _, text := range samples {
		for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
			for _, term := range terms.Expand(nil, text, s) {
				again := termsOf(text[term.Start:term.End])
				assert.Contains(t, again, term.Text, "%q of %q", text[term.Start:term.End], text)
			}
		}
	}
}

func TestClipTo(t *testing.T) {
	for _, text := range samples {
		for n := range len(text) + 2 {
			cut := terms.ClipTo(text, n)
			assert.True(t, strings.HasPrefix(text, cut) && utf8.ValidString(cut) && len(cut) <= n, "%q to %d", text, n)
			assert.Less(t, min(n, len(text))-len(cut), utf8.UTFMax)
		}
	}
	assert.Len(t, terms.Clip(strings.Repeat("a", 100)), terms.MaxTerm)
}

func TestLanguageOf(t *testing.T) {
	for query, foreign := range map[string]bool{
		"how do I feed the starter": false, "sourdough hydration": false, "the role of der and die in a sentence": false, "the name of Temüjin and the Börte": false,
		"wie füttere ich den Ansatz": true, "wie lege ich eine Notiz an": true, "comment nourrir le levain": true, "как кормить закваску": true, "wie geht das": true, "café": true,
	} {
		assert.Equal(t, foreign, terms.LanguageOf([]string{query}).Foreign, query)
	}
}

// A family consists of the forms of a word in a language that is not stemmed.
func TestFamilies(t *testing.T) {
	begins := func(term string, stems []string) bool {
		return slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(term, stem) })
	}
	for word, family := range map[string][]string{
		"garten": {"gartens"}, "книга": {"книги", "книгу"}, "maison": {"maisons"},
		"طماطم": {"الطماطم", "للطماطم", "بالطماطم"}, "المدرسه": {"مدرسه", "مدرسات", "والمدرسه"}, "والد": {"الوالد"},
		"ספר": {"הספר", "ספרימ", "והספרימ"}, "הבית": {"בית", "מהבית"}, "דירה": {"דירות", "הדירות"}, "מפתח": {"מפתחימ"},
	} {
		stems := terms.Stems(word)
		for _, form := range family {
			assert.True(t, begins(form, stems) && terms.SameFamily(word, form), "%s, %s", word, form)
			assert.True(t, begins(word, terms.Stems(form)), "%s, %s", form, word)
		}
		assert.False(t, terms.SameFamily(word, word+"verwaltungsgesellschaft"), word)
	}
	for word, forms := range map[string][]string{ // "and", "in", "for" and others before the word
		"دجاج": {"ودجاج"}, "مدرسه": {"لمدرسه", "ومدرسه", "بمدرسات"}, "محمد": {"ومحمد"},
		"תקציב": {"בתקציב", "ולתקציב", "ותקציב"}, "רחל": {"ורחל"}, "שכנ": {"לשכנימ"},
	} {
		for _, form := range forms {
			assert.True(t, begins(form, terms.Stems(word)) && terms.SameFamily(word, form), "%s, %s", word, form)
			assert.True(t, begins(word, terms.Stems(form)) && terms.SameFamily(form, word), "%s, %s", form, word)
		}
	}
	for word, other := range map[string]string{"والد": "ولد", "باب": "اب", "הר": "ר", "מימ": "מ", "קשה": "בקשה", "ספר": "מספר", "ميزان": "يزان"} {
		assert.False(t, terms.SameFamily(word, other), "%s, %s", word, other)
	}
	for word, stem := range map[string]string{"garten": "gart", "buch": "buch", "gärtner": "gärtn", "gärtnerei": "gärtne"} {
		assert.Equal(t, []string{stem}, terms.Stems(word), "all but two letters, three of a long word, and at least four")
	}
	for query, families := range map[string]bool{"wie füttere ich den Ansatz": true, "cách trồng cây trong nhà": false, "how to feed the starter": false} {
		assert.Equal(t, families, terms.LanguageOf([]string{query}).Families, query)
	}
	for _, short := range []string{"", "a", "im"} {
		assert.Empty(t, terms.Stems(short))
	}
	for word, telling := range map[string]bool{"garden": true, "the": false, "der": false, "because": false, "और": false, "चावल": true} {
		assert.Equal(t, telling, terms.Telling(word), word)
	}
}

// Folding is idempotent for every letter and digit of Unicode, does not depend on composition,
// and is the same for a capital and its small letter.
func TestFold_EveryLetter(t *testing.T) {
	fold := func(s string) string { return string(terms.Fold(nil, s)) }
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			continue
		}
		s := string(r)
		folded := fold(s)
		alike := []string{folded, norm.NFD.String(s), norm.NFC.String(s)}
		if small := unicode.ToLower(r); unicode.ToUpper(small) == r {
			alike = append(alike, string(small))
		}
		for _, other := range alike {
			if fold(other) != folded {
				assert.Failf(t, "not alike", "%U folds to %q, and %q to %q", r, folded, other, fold(other))
			}
		}
	}
}
