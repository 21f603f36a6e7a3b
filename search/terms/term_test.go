package terms

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// termsOf returns the terms of a text in order.
func termsOf(text string) []string {
	var out []string
	for s, ok := NextSpan(text, 0); ok; s, ok = NextSpan(text, s.End) {
		for _, t := range Expand(nil, text, s) {
			out = append(out, t.Text)
		}
	}
	return out
}

func TestTerms(t *testing.T) {
	for in, want := range map[string]string{
		"Running quickly":      "run quick",
		"e-mail":               "e mail email",
		"e‐mail":               "e mail email",
		"e‑mail":               "e mail email",
		"covid-19":             "covid 19 covid19",
		"7-ä":                  "7 a 7a",
		"node.js":              "node js nodej",
		"snake_case":           "snake case snakecas",
		"snake__case":          "snake case snakecas",
		"__init__":             "init",
		"parseHTTPRequest":     "parsehttprequest pars http request",
		"PDFs":                 "pdfs",
		"mp3s":                 "mp3s",
		"iPhone":               "iphon phone",
		"C++ and C#":           "c c++ and c c#",
		"f# x+y":               "f f# x y",
		"v1.2.3":               "v1 2 3 v1.2.3",
		"3.14":                 "3 14 3.14",
		"1,000":                "1 000",
		"2026-01-15":           "2026 01 15 2026-01-15",
		"John's":               "john",
		"JOHN’S":               "john",
		"l'été":                "ete",
		"L’Été":                "ete",
		"O'Brien":              "o brien obrien",
		"OʼBrien":              "o brien obrien",
		"don't":                "don t dont",
		"they're":              "they",
		"U.S.A.":               "usa",
		"user@example.com":     "user exampl com userexamplecom",
		"ann＠example．com":      "ann exampl com annexamplecom",
		"snake＿case":           "snake case snakecas",
		"AT&T":                 "at t att",
		"#tag/sub":             "tag sub",
		"0xDEADBEEF":           "0xdeadbeef",
		"deadbeef":             "deadbeef",
		"end. Next":            "end next",
		"über UBER":            "uber uber",
		"机器学习":                 "机器 器学 学习 习",
		"機器學習":                 "机器 器学 学习 习",
		"猫":                    "猫",
		"佐々木":                  "佐々 々木 木",
		"〆切":                   "〆切 切",
		"ｶﾚｰ":                  "かれ れー ー",
		"iPhone手机":             "iphon phone 手机 机",
		"ﾊﾝｶｸ":                 "はん んか かく く",
		"\u1026း":              "\u1026း း",
		"\u1025\u102Eး":        "\u1026း း",
		"한국어":                  "한국 국어 어",
		"🚀 Launch ✅":           "🚀 launch ✅",
		"\x00a\xffb":           "a b",
		"":                     "",
		"... --- !!!":          "",
		"x_y":                  "x y xy",
		"Straße":               "strass",
		"path/to/file.md":      "path to file md filemd",
		"soft\u00ADhyphen":     "softhyphen",
		"می\u200Cخواهم":        "مي خواهم ميخواهم",
		"می\u200C\u200Cخواهم":  "مي خواهم ميخواهم",
		"דו״ח צה\"ל \"אב\" ג׳": "דו ח דוח צה ל צהל אב ג",
		"ab\u200Dc ab\u2060c":  "abc abc",
		"c++x a#b":             "c x a b",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, want, strings.Join(termsOf(in), " "))
		})
	}
}

// The parts of a word with connectors are parts also where they have parts themselves.
func TestExpand_Parts(t *testing.T) {
	text := "pre-parseHTTP"
	parts := map[string]bool{}
	for _, term := range Expand(nil, text, Span{End: len(text), Classes: classLower | ClassUpper | ClassConnector}) {
		parts[term.Text] = term.Part
	}
	assert.Equal(t, map[string]bool{"pre": true, "parsehttp": true, "pars": true, "http": true, "preparsehttp": false}, parts)
}

// The stemmer takes quadratic time, which is hours for this word.
func TestExpand_LongWord(t *testing.T) {
	text := strings.Repeat("y", 4<<20)
	assert.Equal(t, []Term{{Text: text[:MaxTerm], End: len(text)}}, Expand(nil, text, Span{End: len(text), Classes: classLower}))
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"e-mail l'été v1.2.3", "机器学习 ﾊﾝｶｸ", "ภาษาไทย", "C++ \xff a’s", "___", "x²'s", "İı", "ـ aـ-ـ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for s, ok := NextSpan(text, 0); ok; s, ok = NextSpan(text, s.End) {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("span %v after %d in %q", s, last, text)
			}
			last = s.End
			for _, term := range Expand(nil, text, s) {
				if term.Start < s.Start || term.End > s.End || term.Start >= term.End {
					t.Fatalf("term %+v of %q outside its span %v", term, text, s)
				}
				if term.Text == "" || len(term.Text) > 4*MaxTerm {
					t.Fatalf("term %+v of %q", term, text)
				}
			}
		}
	})
}
