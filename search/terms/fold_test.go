package terms

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"
)

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Über":           "uber",
		"UBER":           "uber",
		"Straße":         "strasse",
		"STRASSE":        "strasse",
		"İstanbul":       "istanbul",
		"ılık":           "ilik",
		"Ὀδυσσεύς":       "οδυσσευσ",
		"ΟΔΥΣΣΕΥΣ":       "οδυσσευσ",
		"Ёлка":           "елка",
		"й":              "й",
		"Київ":           "київ",
		"مُحَمَّد":       "محمد",
		"أحمد":           "احمد",
		"שָׁלוֹם":        "שלומ",
		"ﬁne":            "fine",
		"Ｆｕｌｌ":           "full",
		"ｶﾞｷﾞ":           "がぎ",
		"リンゴ":            "りんご",
		"ヴァイオリン":         "ゔぁいおりん",
		"サーバー":           "さーばー",
		"臺灣會議":           "台湾会议",
		"头发":             "头发",
		"渡邊":             "渡边",
		"渡辺":             "渡边",
		"図書館":            "图书馆",
		"欠":              "欠",
		"מפתחים":         "מפתחימ",
		"が":              "が",
		"한국":             "한국",
		"٣٤":             "34",
		"๔๕":             "45",
		"क़लम":           "कलम",
		"हिन्दी":         "हिंदी",
		"सम्बन्ध":        "संबंध",
		"जन्म":           "जन्म",
		"न्\u200Dद":      "ंद",
		"माँ":            "मां",
		"naïve\u00ADté":  "naivete",
		"œuvre":          "oeuvre",
		"Ŝaĝa":           "saga",
		"x²":             "x2",
		"ỗ":              "o",
		"Łódź":           "lodz",
		"Ærø":            "aero",
		"Đà Nẵng":        "da nang",
		"\xff\xfeabc":    "\uFFFD\uFFFDabc",
		"น้ำ":            "น้ํา",
		"":               "",
		"plain ASCII-42": "plain ascii-42",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, string(Fold(nil, want)), string(Fold(nil, in)), "the wanted form folds to itself")
			assert.Equal(t, string(Fold(nil, in)), string(Fold(nil, norm.NFD.String(in))), "NFD")
			if norm.NFC.IsNormalString(in) {
				assert.Equal(t, want, string(Fold(nil, in)))
			}
		})
	}
}
