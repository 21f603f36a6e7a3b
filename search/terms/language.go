package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FunctionWords are the folded function words of languages other than English: German, French,
// Spanish, Italian, Portuguese, Dutch, Scandinavian languages, Russian, Polish, Turkish, Greek,
// Ukrainian, Arabic, Persian, Hebrew and Hindi. They are dropped only from queries in those languages.
var FunctionWords = wordSet(
	"der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wurde wurden worden hat haben hatte hatten wie was wer wen wem wo wann warum welche welcher welches welchen welchem wofur womit woher wohin mit von vom zu zum zur auf aus bei beim fur nach uber unter vor durch gegen ohne um als wenn dass man es er sie ich wir ihr sich auch noch nur sein seine seiner ihre ihrer im am kann konnte konnen soll gibt mein meine meinem meinen meiner mich uns unser unsere unserem unseren unserer",
	"le la les un une des du de et ou est sont etait etaient a ont qui que quoi quel quelle quels quelles quand comment pourquoi dans par pour sur avec sans sous entre vers chez ce cet cette ces se son sa ses leur leurs il elle ils elles on nous vous je ne pas plus au aux en y fut ete notre votre nos combien",
	"el la los las un una unos unas de del y o es son era eran fue fueron ha han que quien quienes cual cuales cuando donde como por para con sin sobre entre en se su sus al lo le les no mas cuanto cuantos cuanta mi mis nuestro nuestra cuantas",
	"il lo la gli le un uno una di del della dei delle degli dell e o che chi cosa quale quali quando dove come perche per con senza su tra fra in nel nella nei da dal dalla si sono era erano ha hanno al alla ai alle non mio miei nostro nostra quanto quanti quante",
	"o os as um uma uns umas do da dos das e ou que quem qual quais quando onde como por para com sem sobre entre em no na nos nas se seu sua foi foram era sao ao aos nao meu minha meus minhas nosso nossa quantos quantas",
	"de het een en of is zijn was waren wordt worden werd werden heeft hebben had wie wat waar wanneer waarom hoe welke welk met van voor op uit bij naar over onder door tegen als dat die deze dit niet ook maar er hij zij ze we in te aan mijn ons onze hoeveel",
	"och eller som att det den en ett ar var vad vem nar hur varfor vilken vilket vilka med av for pa till fran om under over hos har hade inte sin sitt sina der er og ikke hva hvem hvor hvad hvornar",
	"и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще о из ему когда кто где какой какая какое какие каких каким какую чем это этого для до был была были или чего почему сколько при под над об есть их мой моя мое мои моего моей моих мою мне нас наш наша наши",
	"i w we na z ze do o od po za przez dla nie sie jest sa byl byla bylo co kto gdzie kiedy jak jaki jaka jakie ktory ktora ktore czy to ten ta te dlaczego moj moja moje mojego mojej mnie jego jej ich oraz",
	"ve ile bir bu su o da de mi mu ne kim hangi nerede nasil neden niye kac icin gibi olarak olan oldu idi var yok benim bizim",
	"ο η το οι τα του της των τον την και ή να που ποιος ποια ποιο ποιοι πως πότε ποτε γιατι με σε στο στη στην στον στις στα από απο για δεν είναι ειναι ήταν ηταν τι ένα ενα μια ένας μου μας σου σας πόσο πόσα πόσες πόσοι πόση",
	"من في على الى عن ان هذا هذه ذلك تلك التي الذي الذين ما ماذا متى اين كيف لماذا كم هل هو هي هم كان كانت لا لم لن قد مع بعد قبل بين كل او ثم حتى عند منذ اي لي لنا عندي",
	"از به با که در این آن را و یا تا هم است بود شده می نمی ها های برای چه چرا کی کجا کدام چطور چگونه چند من ما شما او آنها هست نیست دارد خود",
	"של את על עם אל מן זה זו זאת הוא היא הם הן אני מה מי איך כמה מתי איפה היכן למה מדוע האם לא כי אם גם או אבל כל היה הייתה היו יש אין בין אחרי לפני אשר שלי שלך שלו שלה שלנו שלהם לי לנו איזה איזו",
	"के का की में है हैं को से पर और या कि यह वह ये वे इस उस ने भी तो ही तक लिए साथ मैं हम मेरा मेरे मेरी हमारा हमारे हमारी अपना अपने अपनी क्या कब कहाँ कौन कैसे क्यों किस कितना कितने कितनी था थी थे हो एक जो नहीं",
	"і й та в у не що він на як а то його але з за по для від до це який яка яке які коли де хто скільки чому мій моя моє мої мого моєї моїй мене мені наш наша наше наші куди звідки є був була було були про при над під із зі або щоб",
)

// Language is the language of a query, estimated from its words.
type Language struct {
	Foreign  bool // not English: function words are stop words
	Families bool // words have forms with other endings
	Open     bool // no word shows the language: words have forms if most notes are not in English
}

// LanguageOf returns the language of a query's texts. It is foreign if more words are function
// words only of other languages than are function words only of English. Non-ASCII letters
// count as one foreign word, and each word with letters of Vietnamese alone as one.
func LanguageOf(texts []string) Language {
	var foreign, english int
	var letters, isolated bool
	for _, text := range texts {
		for s, ok := NextSpan(text, 0); ok; s, ok = NextSpan(text, s.End) {
			if s.Kind() != ClassWord {
				continue
			}
			word := Fold(nil, text[s.Start:s.End])
			switch stop, function := StopWords[string(word)], FunctionWords[string(word)]; {
			case stop && !function && s.Classes&HighBit == 0: // thé and số are not English
				english++
			case function && !stop:
				foreign++
			}
			letters = letters || s.Classes&HighBit != 0 && strings.ContainsFunc(text[s.Start:s.End], func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) })
			if strings.ContainsFunc(text[s.Start:s.End], isolating) {
				isolated = true
				foreign++ // An in Hội An looks English
			}
		}
	}
	if letters {
		foreign++
	}
	return Language{Foreign: foreign > english, Families: foreign > english && !isolated, Open: foreign == 0 && english == 0}
}

// EnglishNoteWord is a term that nearly every note in English has.
const EnglishNoteWord = "the"

// ForeignNoteWords are terms of which nearly every note in German, French, Spanish and other
// languages in Latin letters has one, and few notes in English.
var ForeignNoteWords = strings.Fields("und nicht les los del che della nao uma het een och att ikke og nie jest ve bir")

// isolating reports whether r is a letter of Vietnamese, whose words are not inflected, so that
// families only do harm.
func isolating(r rune) bool {
	switch r {
	case 'ơ', 'ư', 'Ơ', 'Ư':
		return true
	}
	return r >= 0x1EA0 && r <= 0x1EF9
}
