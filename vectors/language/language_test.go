package language_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/vectors/language"
)

// Typical passages in several languages.
var (
	english = []string{
		"Retro 2026-03\n\nThe migration took longer than we had planned, because the staging database was not the same size as the one in production.",
		"Ohm's law > Units\n\nResistance $R$ is measured in ohms; it is the ratio of $V$ to $I$:\n\n$$\nR = \\frac{V}{I} \\quad \\le \\infty\n$$\n\nIt holds for most metals and not for a diode.",
		"Trip\n\nWe met Juan de la Cruz and Anne-Marie van der Berg at the Champs-Élysées; they had come from Łódź by train.",
		"Python\n\nUse a comprehension when the body is one expression:\n\n```python\nfor el in la: print(le, un, des, los)\n```\n\nThis is faster than a loop with `append`.",
	}
	german = []string{
		"Garten\n\nDie Tomaten sind noch nicht reif, aber der Salat kann geerntet werden. Für den Herbst will ich eine neue Hecke pflanzen.",
		"Besprechung 12.3.\n\nWir haben beschlossen, dass der Bericht bis Freitag fertig wird; Anna kümmert sich um die Zahlen und ich schreibe den Text.",
	}
	others = map[string][]string{
		"Chinese":        {"读书笔记\n\n这本书讨论了城市规划与公共空间的关系，作者认为街道应当首先属于行人，而不是汽车。"},
		"Japanese":       {"日記\n\n今日は朝から雨が降っていたので、家で本を読んで過ごした。夕方には晴れて散歩に出かけた。"},
		"Korean":         {"회의록\n\n다음 주 월요일까지 보고서를 제출하고 예산은 다시 검토하기로 했다. 새로운 일정은 내일 공유한다."},
		"Russian":        {"Дневник\n\nСегодня мы ходили в лес и нашли много грибов, а вечером варили суп и играли в шахматы."},
		"Arabic":         {"ملاحظات\n\nناقشنا اليوم خطة العمل الجديدة واتفقنا على موعد الاجتماع القادم مع فريق التصميم في المكتب."},
		"Hindi":          {"डायरी\n\nआज हम बाज़ार गए और बहुत सारी सब्ज़ियाँ खरीदीं, फिर शाम को दोस्तों के साथ खाना बनाया।"},
		"Thai":           {"บันทึก\n\nวันนี้ฝนตกหนักมากจึงทำงานอยู่ที่บ้านและอ่านหนังสือเล่มใหม่จนจบ"},
		"French":         {"Cuisine\n\nIl faut laisser reposer la pâte une heure, puis l'étaler sur une plaque avec un peu de farine et la cuire au four."},
		"Spanish":        {"Diario\n\nHoy fuimos al mercado y compramos verduras para la cena; después llamé a mi hermano, que está en Bogotá."},
		"Portuguese":     {"Reunião\n\nA equipe decidiu que o relatório não será entregue hoje, mas na sexta-feira, depois da revisão das contas."},
		"Italian":        {"Ricetta\n\nMescolare la farina con le uova e il sale, poi lasciare riposare l'impasto per un'ora prima di stenderlo con il mattarello."},
		"Polish":         {"Notatki\n\nDzisiaj nie było czasu na czytanie, ale jutro jest wolne i może uda się skończyć tę książkę, która leży od miesiąca."},
		"Swedish":        {"Dagbok\n\nVi åkte till stugan och det var kallt, men jag tände en brasa och sedan läste vi för barnen."},
		"Turkish":        {"Günlük\n\nBugün çok yorgunum ama bu kitap için bir not yazmak istiyorum, çünkü yazarın fikirleri ilginç ve her şey daha açık."},
		"Vietnamese":     {"Nhật ký\n\nHôm nay trời mưa và tôi ở nhà đọc sách, không có việc gì phải làm cho đến tối với các bạn."},
		"Finnish":        {"Työ\n\nTämä on hyvä, he ovat iloisia. Kokous on tänään ja huomenna, se on pitkä."},
		"Polish, short":  {"Zakupy\n\nTo do domu: to jest na stole, do jutra nie kupić."},
		"Turkish, short": {"Ev\n\nHer gün yeni bir iş, bugün kombi bozuldu."},
		"decomposed":     {"Übung\n\nFu\u0308r die Pru\u0308fung habe ich noch nicht genug gelernt, aber bis Freitag ist es genug."},
	}
	unjudged = []string{
		"",
		"2026-04-01\n\n- [ ] milk\n- [ ] eggs 12\n- [x] bread",
		"main.go\n\n```go\nfunc der(die int) error { for und := range das { return und.ist(nicht) } }\n```",
		"Gauss\n\n$$\n\\int_{-\\infty}^{\\infty} e^{-x^2} \\, dx = \\sqrt{\\pi}\n$$\n$\\alpha \\le \\beta$, $α β γ$",
		"Links\n\nhttps://de.wikipedia.org/wiki/der_und_das\nhttps://la.example/los/el/les",
		"People\n\n- María García\n- Łukasz Nowak\n- Jürgen Müller\n- 王伟",
		"Day\n\n- 9 am standup\n- 10 am call\n- 11 am gym",
		"2026-01-31\n\n- TODO Renew passport\n- TODO Book dentist\n- TODO Call Bob",
		"Shops\n\n- example.com\n- example.com/care\n- example.com/come\n- open till 10",
	}
	logseq = []string{
		"page\n\n- The sync bug [[Logseq]] #bug\n\t- it happens when two devices are open\n\t  collapsed:: true\n\t- TODO ask them how to reproduce it",
		"journal\n\n- Meeting mit [[Anna]]\n\t- der Termin ist am Montag\n\t- TODO das Angebot noch nicht fertig\n\t  id:: 65f1c1b2-0000",
	}
)

func judge(passages ...string) (s language.Share) {
	for _, p := range passages {
		s.Add(p)
	}
	return language.Share{Foreign: s.Foreign, Judged: s.Judged}
}

func TestShare_Languages(t *testing.T) {
	for _, p := range english {
		assert.Equal(t, language.Share{Judged: 1}, judge(p), p)
	}
	for _, p := range german {
		assert.Equal(t, language.Share{Foreign: 1, Judged: 1}, judge(p), p)
	}
	for name, list := range others {
		assert.Equal(t, language.Share{Foreign: 1, Judged: 1}, judge(list...), name)
	}
	for _, p := range unjudged {
		assert.Zero(t, judge(p), p)
	}
	assert.Equal(t, language.Share{Foreign: 1, Judged: 2}, judge(logseq...))
}

// Notes of a line or two, such as daily notes, count together: three German ones as one passage,
// whatever English ones are among them.
func TestShare_ShortPassages(t *testing.T) {
	german := []string{"2026-03-01\n\nMit Anna gegessen.", "2026-03-02\n\nRegen und Wind.", "2026-03-03\n\nDas Auto geholt."}
	english := []string{"2026-03-04\n\nRead the book.", "2026-03-05\n\nCalled my sister.", "2026-03-06\n\nWork at home."}
	assert.Zero(t, judge(german[:2]...))
	assert.Equal(t, language.Share{Foreign: 1, Judged: 1}, judge(german...))
	assert.Equal(t, language.Share{Foreign: 1, Judged: 2}, judge(german[0], english[0], german[1], english[1], english[2], german[2]))
	assert.Equal(t, language.Share{Foreign: 2, Judged: 2}, judge(append(german, german...)...))
	people := []string{"Simone de Beauvoir", "Anna van Dijk", "Leonardo da Vinci", "Otto von Bismarck", "Luca della Robbia"}
	assert.Zero(t, judge(people...), "names are in no language")
}

// An English note that quotes another language counts as English, and vice versa.
func TestShare_MixedPassage(t *testing.T) {
	assert.Equal(t, language.Share{Judged: 1}, judge(english[0]+" They said „das ist nicht wahr“ and 你好."))
	assert.Equal(t, language.Share{Foreign: 1, Judged: 1}, judge(german[0]+" The end of it."))
}

func TestShare_Group(t *testing.T) {
	var s language.Share
	assert.Equal(t, language.English, s.Add(english[0]))
	assert.Equal(t, language.Group("German"), s.Add(german[0]))
	for _, name := range []language.Group{"French", "Spanish", "Portuguese", "Italian", "Polish", "Swedish", "Turkish", "Vietnamese", "Finnish"} {
		assert.Equal(t, name, s.Add(others[string(name)][0]))
	}
	assert.Equal(t, language.Other, s.Add(others["Russian"][0]))
	assert.Equal(t, language.Spaceless, s.Add(others["Chinese"][0]))
	assert.Equal(t, language.Unknown, s.Add("Mit Anna gegessen."), "too short")
}

func TestShare_Of(t *testing.T) {
	assert.Zero(t, language.Share{}.Fraction())
	assert.InDelta(t, .25, judge(english[0], english[1], english[2], german[0], unjudged[1]).Fraction(), 0)
}

// Any input is processed in one pass, without a panic.
func FuzzShare(f *testing.F) {
	for _, p := range append(append(english, unjudged...), "```", "$$", "`", "~~~\n```", "\xff\xfe $") {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		s := judge(p)
		assert.LessOrEqual(t, s.Foreign, s.Judged)
		assert.Equal(t, s, judge(p))
	})
}
