package search_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"

	"notesd/notes"
	"notesd/search"
)

// A text in traditional Chinese is found with simplified characters and the reverse, Japanese
// with old and new characters, and hiragana with katakana.
func TestSearch_CharacterVariants(t *testing.T) {
	f := newFixture(t, map[string]string{
		"会议.md": "# 项目会议\n\n张伟和李娜讨论了软件开发计划。头发剪短了。", "筆記.md": "# 讀書筆記\n\n城市規劃與公共空間的關係。臺灣的醬油。",
		"日記.md":   "# 日記\n\n図書館で渡邊さんに会った。りんごとジャガイモを買った。",
		"भाषा.md": "# भाषा\n\nमां हिन्दी और मराठी का संबंध समझाती हैं।",
	})
	for query, want := range map[string]string{
		"會議": "会议", "張偉": "会议", "頭髮": "会议", "读书笔记": "筆記", "关系": "筆記", "台湾": "筆記", "酱油": "筆記", `"城市规划"`: "筆記", "title:读书": "筆記",
		"渡辺": "日記", "圖書館": "日記", "リンゴ": "日記", "じゃがいも": "日記",
		"हिंदी": "भाषा", "हिन्दी": "भाषा", "सम्बन्ध": "भाषा", "माँ": "भाषा",
	} {
		assert.Equal(t, []string{want}, f.paths(query), query)
	}
	hit := f.search(search.Query{Text: "关系", Mode: search.ModeText}).Hits[0]
	assert.Contains(t, hit.Snippet, "公共空間的關係", "the text is shown as it is written")
}

// Arabic and Hebrew write "and", "in" and "for" together with the word.
func TestSearch_Particles(t *testing.T) {
	f := newFixture(t, map[string]string{
		"وصفة.md": "# وصفة\n\nأرز ودجاج وبهارات.", "مدرسة.md": "# مدرسة\n\nحضر أحمد ومُحَمَّد إلى الاجتماع بالمدينة.",
		"פגישה.md": "# פגישה\n\nהגיעו יוסי ורחל. דיברנו בתקציב ולשכנים יש כלב.", "תקציב.md": "# תקציב\n\nהמפתחות בבית.",
	})
	for query, want := range map[string][]string{
		"دجاج": {"وصفة"}, "محمد": {"مدرسة"}, "לתקציב": {"תקציב", "פגישה"}, "תקציב": {"תקציב", "פגישה"}, "רחל": {"פגישה"}, "שכן": {"פגישה"}, "פגישות": {"פגישה"},
	} {
		assert.ElementsMatch(t, want, f.paths(query), query)
	}
}

// A few words do not show the language of a query; that of the notes decides whether other
// forms of them count.
func TestSearch_FormsByLanguageOfNotes(t *testing.T) {
	files := map[string]string{"de/Zahnarzt.md": "# Zahnarzt\n\nDie Rechnungen und die Termine.", "de/Bank.md": "# Bank\n\nEine Rechnung ist offen."}
	both := []string{"de/Bank", "de/Zahnarzt"}
	assert.Equal(t, both, newFixture(t, files).paths("Rechnung"))
	files["en/Plan.md"] = "# Plan\n\nThe numbers."
	f := newFixture(t, files)
	assert.Equal(t, both[:1], f.paths("Rechnung"), "as many notes are in English")
	assert.Equal(t, both, f.paths("wo ist die Rechnung"))
	german := search.Query{Text: "Rechnung", Mode: search.ModeText, Filter: notes.Filter{Scope: []string{"de"}}}
	assert.Equal(t, both, pathsOf(f.search(german)), "notes that the client may not read do not count")
}

// A long word may have an ending of three letters.
func TestSearch_LongForms(t *testing.T) {
	f := newFixture(t, map[string]string{"Góry.md": "# Góry\n\nBieszczady i schronisko.", "Auto.md": "# Auto\n\nWymiana hamulców."})
	for query, want := range map[string]string{"jak w Bieszczadach": "Góry", "co z hamulcami": "Auto"} {
		assert.Equal(t, []string{want}, f.paths(query), query)
	}
}

// A query in NFD, as a file name pasted on macOS, is answered as in NFC: its accents show that it
// is not in English.
func TestSearch_DecomposedQuery(t *testing.T) {
	f := newFixture(t, map[string]string{"de/Rezept.md": "# Rezept\n\nKäsespätzle und Äpfel.", "en/Plan.md": "# Plan\n\nThe numbers.", "en/Diary.md": "# Diary\n\nThe weather."})
	composed := f.search(search.Query{Text: "Käsespätzlen"})
	assert.Empty(t, composed.Notes)
	assert.Equal(t, composed, f.search(search.Query{Text: norm.NFD.String("Käsespätzlen")}))
}

// "My" and "our" carry no topic in other languages either, nor do the postpositions of Hindi.
func TestSearch_FunctionWords(t *testing.T) {
	f := newFixture(t, map[string]string{
		"Ausweise.md": "# Ausweise\n\nFührerschein im Schreibtisch.", "Tagebuch.md": "# Tagebuch\n\nMein Tag mit unserem Chor.",
		"Паспорт.md": "# Паспорт\n\nЛежит в столе.", "Дневник.md": "# Дневник\n\nМой день.",
		"बीमा.md": "# बीमा\n\nगाड़ी, 6200 रुपये।", "डायरी.md": "# डायरी\n\nशाम को चौक के पास।",
		"Paszport.md": "# Paszport\n\nLeży w szufladzie.", "Dziennik.md": "# Dziennik\n\nMój dzień i ile dlaczego.",
		"Посвідчення.md": "# Посвідчення\n\nЛежить у шухляді.", "Щоденник.md": "# Щоденник\n\nМій день, скільки справ, чому так.",
		"Διαβατήριο.md": "# Διαβατήριο\n\nΣτο συρτάρι.", "Ημερολόγιο.md": "# Ημερολόγιο\n\nΗ μέρα μου, πόσο μεγάλη.",
		"דרכון.md": "# דרכון\n\nבמגירה.", "יומן.md": "# יומן\n\nהיום שלי.",
		"Passaporto.md": "# Passaporto\n\nNel cassetto.", "Diario.md": "# Diario\n\nQuanto lavoro, quanti giorni.",
		"Paspoort.md": "# Paspoort\n\nIn de lade.", "Dagboek.md": "# Dagboek\n\nHoeveel werk.", "Passeport.md": "# Passeport\n\nDans le tiroir.", "Journal.md": "# Journal\n\nMes amis, combien de temps.",
	})
	english := newFixture(t, map[string]string{"Mie.md": "# Mie\n\nLight.", "Rayleigh.md": "# Rayleigh scattering\n\nScattering of light."})
	assert.Equal(t, "Mie", english.paths("Mie scattering")[0])
	for query, want := range map[string]string{"Wo ist mein Führerschein?": "Ausweise", "Где мой паспорт?": "Паспорт", "गाड़ी के बीमा को कब भरना है": "बीमा",
		"Ile kosztuje mój paszport i dlaczego": "Paszport", "Скільки коштує моє посвідчення і чому": "Посвідчення", "Πόσο κάνει το διαβατήριό μου": "Διαβατήριο", "איפה הדרכון שלי": "דרכון",
		"quanto costa il passaporto": "Passaporto", "hoeveel kost het paspoort": "Paspoort", "combien coûtent les passeports": "Passeport"} {
		assert.Equal(t, []string{want}, f.paths(query), query)
	}
}

// An acronym of Hebrew is found with gershayim, with a quotation mark and without either; the mark
// neither begins nor ends a phrase.
func TestSearch_HebrewAcronyms(t *testing.T) {
	f := newFixture(t, map[string]string{
		"רבעון.md": "# רבעון\n\nהגשתי דו\"ח על ההכנסות.", "מס.md": "# מס\n\nתשלומי מע״מ.", "מלח.md": "# מלח\n\nדו קרב; ח.",
	})
	for query, want := range map[string]string{
		"דוח": "רבעון", `דו"ח`: "רבעון", "דו״ח": "רבעון", `"דו"ח על"`: "רבעון", "מעמ": "מס", `מע"מ`: "מס", `"תשלומי מע"מ"`: "מס",
	} {
		got := f.paths(query)
		if assert.NotEmpty(t, got, query) {
			assert.Equal(t, want, got[0], query)
		}
	}
	assert.Equal(t, []string{"רבעון"}, f.paths(`דוח "על ההכנסות"`))
	assert.Equal(t, []string{"רבעון"}, f.paths(`דוח ו"על ההכנסות"`), "a phrase after a particle")
	assert.Empty(t, f.paths(`דוח ו"ההכנסות על"`))
}

// Persian joins the plural, prefixes and parts of compounds to a word without joining the letters,
// or writes them with a space or together.
func TestSearch_PersianJoiner(t *testing.T) {
	f := newFixture(t, map[string]string{
		"غذا.md": "# غذا\n\nسبزی\u200cهای خردشده و ته\u200cدیگ.", "باغ.md": "# باغ\n\nکتابهای باغبانی و گوجه فرنگی.", "کار.md": "# کار\n\nمریم از شیراز می\u200cآید.",
	})
	for query, want := range map[string]string{
		"سبزی": "غذا", "سبزیهای": "غذا", "ته ديگ": "غذا", "تهدیگ": "غذا", "کتاب": "باغ", "کتاب\u200cها": "باغ", "گوجه\u200cفرنگی": "باغ",
		"مریم از کجا می\u200cآید": "کار",
	} {
		assert.Equal(t, []string{want}, f.paths(query), query)
	}
}
