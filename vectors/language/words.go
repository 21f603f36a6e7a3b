package language

import (
	"maps"
	"slices"
	"strings"
)

// englishWords are the most frequent words of English prose, except those that are as frequent in
// another language: "on" means "is" in Finnish, "to" and "do" are Polish and Czech, "her" Turkish.
var englishWords = set(`
	the of and in is that for it with as was are this be by from or an not have which you can at has but
	they we he she his their its our your my will would should could when where what how why who if then than
	these those there into about between because while been were had does did also only more most other some
	such each all any one two use used using so just like over after before through during without within make
	may must might them us him being both very`)

// latinLanguages are the other languages in Latin script, in a fixed order.
var latinLanguages = slices.Sorted(maps.Keys(foreignLists))

// foreignWords are the languages of frequent words of other languages in Latin script, except
// words of one letter and those that are also English, such as "die", "am", "to" and "see".
var foreignWords = func() map[string][]Group {
	all := map[string][]Group{}
	for _, language := range latinLanguages {
		for word := range set(foreignLists[language]) {
			all[word] = append(all[word], language)
		}
	}
	return all
}()

// inNames are foreign words that are also parts of names, such as Simone de Beauvoir's.
var inNames = set("van von de del della da di du la le los las el den der dos")

var foreignLists = map[Group]string{
	"German":     `der das und ist nicht ein eine einen einem einer eines den dem des mit von zu zur zum auf für sich auch als wie wir ich sie er im bei nach aus oder aber wenn dass daß wird werden wurde sind haben kann noch nur über durch sein ihre diese dieser dieses mehr schon sehr nicht kein keine bis um vor`,
	"Dutch":      `het een van en niet dat zijn op te voor met aan er maar om ook als bij nog uit naar dan wordt worden deze kan heeft hebben geen wel door over moet veel waar`,
	"French":     `le la les un une des du et est dans pour que qui sur avec pas ne au aux ce cette ces il elle nous vous ils sont par mais ou où comme être avoir fait tout leur ont été aussi se sa ses très même`,
	"Spanish":    `el la los las un una unos unas del que y en por con para se lo su sus como más pero este esta estos fue ser hay cuando muy sobre también entre desde porque está están donde hasta`,
	"Portuguese": `as um uma da dos das que para não se por mais é ao aos como mas foi ele ela são está ser tem seu sua ou quando muito nos já também só pelo pela até isso entre depois sem mesmo`,
	"Italian":    `il lo gli un una di del della dei delle che è con non da nel nella sono più anche ma alla questo questa essere hanno suo sua quando molto perché tra fra ogni dove ci`,
	"Catalan":    `els les amb què és són aquest aquesta també més però una dels`,
	"Romanian":   `și în la cu pe de din este sunt mai pentru sau fost într prin după dar această acest când foarte`,
	"Polish":     `nie się na jest że jak tak ale od za przez dla jego już tylko być może są który która które czy oraz przy też bardzo lub gdy jeśli`,
	"Czech":      `je se na že jako by ale jsem jsou které který také při nebo byl bylo být když už jen podle před sa ktoré ktorý alebo aj pre`,
	"Croatian":   `je da na se su za što ne kao od nije ali koji koja koje iz ili kako biti samo može`,
	"Slovenian":  `je in da se na so za ne kot tudi ali iz še lahko`,
	"Hungarian":  `az egy hogy nem és is volt van ez meg csak már de mint még azt vagy lehet minden ezt kell`,
	"Finnish":    `ja ei se että oli hän mutta myös kun tai ovat niin kuin joka jos ole voi sekä mukaan tämä sen hän minä en kanssa vain jo nyt mitä kaikki olla`,
	"Estonian":   `ja ei et oli ka kui ning või aga oma`,
	"Swedish":    `och att det som en på är av för med den inte om ett han jag från så kan när eller också efter ska har vid mot`,
	"Danish":     `og det er en til som på med af ikke den har jeg et kan der om ved også efter eller blev fra skal sig når`,
	"Norwegian":  `og det er en til som på med av ikke den har jeg et kan om ved også etter eller ble fra skal seg når`,
	"Turkish":    `ve bir bu da de için ile çok olarak daha gibi kadar en ama ne olan değil sonra bugün gün yeni iyi bütün tüm kendi önce göre hiç şey nasıl veya ise diye ki bunu bunun yok mı mü iki`,
	"Vietnamese": `và của là có không được cho một trong với các này những người đã để từ khi như đến cũng thì`,
	"Indonesian": `yang dan di dari untuk dengan itu tidak pada adalah ke dalam akan juga atau oleh ada bisa karena sebagai saya tak dapat`,
	"Lithuanian": `yra kad su iš kaip bet tai buvo jo apie arba už`,
	"Latvian":    `un ar uz par ka kas bet vai tas lai kā pēc`,
	"Albanian":   `dhe në një të për nga që është nuk ka por`,
}

func set(list string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(list) {
		words[word] = true
	}
	return words
}
