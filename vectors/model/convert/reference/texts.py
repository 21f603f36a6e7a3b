"""Texts to compare implementations on: the same ones each time."""

import random
import unicodedata

SENTENCES = [
    # English, plain and technical
    "The ferry leaves at ten past seven, and the next one is not until noon.",
    "Backups are worthless until somebody has restored one.",
    "Her grandmother kept bees behind the school and sold the honey from the kitchen window.",
    "A hash table degrades to a linear scan when every key lands in the same bucket.",
    "Inflation fell to 2.4 percent in October, the lowest figure in three years.",
    "Nobody could say afterwards who had opened the gate.",
    "Enzymes lower the activation energy of a reaction without being consumed by it.",
    "Please find attached the signed contract and two copies of the floor plan.",
    "To re-index the vault, stop the daemon, delete the state directory and start it again.",
    "He'd've gone, wouldn't he? Well, it's not my business; it's theirs.",
    "Stall margin at high incidence is set by the tip clearance vortex.",
    "We ordered 3 kg of flour, 1.5 l of milk and a dozen eggs for EUR 17.85.",
    # Other languages
    "Die Straßenbahn fährt wegen Bauarbeiten nur bis zum Rathaus, danach gibt es einen Ersatzverkehr.",
    "Über die Höhe der Abfindung wird erst im nächsten Jahr entschieden.",
    "Le conseil a voté la suppression du péage, à condition que l'État compense la perte.",
    "Où as-tu rangé les clés de la cave ? Elles étaient près de la fenêtre.",
    "El río creció tanto que el puente viejo quedó bajo el agua durante dos días.",
    "¿Cuándo empieza la función? Creo que a las nueve y cuarto.",
    "A reunião foi adiada porque metade da direção está de férias até ao fim do mês.",
    "Il museo è chiuso il lunedì, ma la biblioteca al primo piano resta aperta.",
    "De trein naar Groningen heeft een vertraging van ongeveer twintig minuten.",
    "Jag förstår inte varför fönstret måste vara öppet när det snöar.",
    "Przesyłka została wysłana wczoraj, powinna dojść przed piątkiem.",
    "Večeře je v sedm, přineste prosím něco k pití a židli navíc.",
    "Toplantı saat üçte başlayacak, İstanbul'dan gelenler biraz gecikebilir.",
    "A szomszéd kutyája egész éjjel ugatott, alig aludtunk valamit.",
    "Cuộc họp bắt đầu lúc chín giờ sáng, xin đừng đến muộn.",
    "Поезд опоздал на сорок минут, и мы не успели на пересадку.",
    "Чому ти не зателефонував, коли приїхав до міста?",
    "Το μουσείο μένει κλειστό κάθε Δευτέρα, εκτός από τις αργίες.",
    "نأسف لتأخر الرد على رسالتكم بسبب العطلة الرسمية.",
    "הספרייה נסגרת היום מוקדם בגלל החג.",
    "अगले सप्ताह की बैठक का समय बदल गया है।",
    "ร้านนี้ปิดทุกวันจันทร์ แต่เปิดถึงสี่ทุ่มในวันเสาร์",
    "图书馆将于下周一开始装修，预计三个月后重新开放。",
    "請把護照影本和兩張照片寄到下面的地址。",
    "電車が遅れているので、少し待っていてください。コーヒーでもどうですか。",
    "내일 비가 오면 소풍은 다음 주로 미루겠습니다.",
    "மழை காரணமாக விளையாட்டு நிறுத்தப்பட்டது.",
    "მატარებელი საღამოს ექვს საათზე გადის.",
    # Markup and code
    "# Meeting notes\n\n- [x] agenda\n- [ ] budget (see [[Finance/2025]])\n\n> quoted **bold** _text_ `code`",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; } // dot product",
    "def parse(line: str) -> dict[str, int]:\n    return {k: int(v) for k, v in (p.split('=') for p in line.split(';'))}",
    "SELECT count(*) FROM notes WHERE tag = 'todo' AND done IS NULL;",
    "$ curl -sSf https://example.org/api/v2/items?limit=50&sort=-created | jq '.items[].id'",
    "---\ntitle: \"On walking\"\ntags: [essay, draft]\n---\n\nI set out before six.",
    "| a | b |\n|---|---:|\n| 1 | 2,000 |\n| 3 | 4.5e-6 |",
    "<div class=\"x\">&nbsp;&copy; 2024</div><!-- comment -->",
    "x² + y² ≤ r², ∑ᵢ aᵢ ≈ ∞, α→β, ½ ⅓ №5 ™ ® © ° µm",
    "🙂 👩‍👩‍👧‍👦 👍🏽 🇨🇭 ❤️ 1️⃣ ☎︎",
]

SPECIAL = [
    "", " ", "\n\n\t", "\0", "a\0b", "\ufffd", "a\ufffdb", "\u200b", "\u00ad", "soft\u00adhyphen", "\u2028line\u2029paragraph",
    "no\u00a0break", "thin\u2009space", "\u3000ideographic", "\ufeffbom", "e\u0301 vs \u00e9", "\u0301", "\u0301\u0301\u0301",
    "Z\u0351\u036b\u0343\u036aa\u0302l\u0325g\u0321o", "[CLS] [SEP] [UNK] [MASK] [PAD]", "[sep]", "##ing ##s", "# # # #", "...", "\u2026",
    "don't", "\u201cquotes\u201d \u2018and\u2019 \u2013 dashes \u2014", "a" * 99, "a" * 100, "a" * 101, "\u00e9" * 100, "\u00e9" * 101,
    "supercalifragilisticexpialidocious", "donaudampfschifffahrtsgesellschaftskapit\u00e4n", "\u1e9e\u00df\u0130\u0131", "\ufb01\ufb02\ufb03",
    "\uff21\uff22\uff23\uff11\uff12\uff13", "\u2260\u2264\u226e", "\u037e\u1fef\u212b\u2126", "\uac00\uac01\ud7a3", "\u1100\u1161\u11a8",
    "\ufa0e\uf900\U0002f800", "\u4e00", "\u3042\u30a2\uff71", "\U0001d400\U0001d41a", "\U0001f468\u200d\U0001f4bb", "\u202eright to left\u202c",
    "\x01\x02\x7f\x85\x9f", "tab\tnew\nline\r\nreturn\rend", "1234567890", "3.14159", "2024-02-29T23:59:60Z", "user@example.com",
    "C:\\Users\\me\\file.txt", "/usr/local/lib/libfoo.so.1", "0xDEADBEEF", "snake_case camelCase kebab-case", "$+<=>^|~", "!\"#%&'()*,-./:;?@[\\]_{}`",
]

LONG = 100_000


def long_texts():
    """Texts of 100 000 characters."""
    return [
        "a" * LONG,
        " " * LONG,
        "word " * (LONG // 5),
        "\u4e2d" * LONG,
        "\u0301" * LONG,
        "." * LONG,
        ("".join(SENTENCES) * 100)[:LONG],
        "\n".join(SENTENCES * 100)[:LONG],
    ]


def random_unicode(rng):
    """Characters from anywhere that is assigned, with a bias to the lower blocks."""
    out = []
    while len(out) < rng.randint(1, 60):
        c = chr(rng.choice([rng.randint(0, 0x2FF), rng.randint(0, 0x2FFF), rng.randint(0, 0xD7FF), rng.randint(0xE000, 0x1FFFF)]))
        if unicodedata.category(c) != "Cn":
            out.append(c if rng.random() < 0.7 else c + " ")
    return "".join(out)


def mixture(rng):
    """Sentences of one language or of several, some of them damaged."""
    pool = SENTENCES if rng.random() < 0.3 else rng.sample(SENTENCES, 3)
    text = rng.choice([" ", "\n", "\n\n", ""]).join(rng.choice(pool) for _ in range(rng.choice([1, 1, 2, 3, 5, 8, 20, 60])))
    kind = rng.random()
    if kind < 0.1:
        text = text.upper()
    elif kind < 0.2:
        text = unicodedata.normalize("NFD", text)
    elif kind < 0.3:
        text = text[: rng.randint(0, len(text))]
    elif kind < 0.4:
        at = rng.randint(0, len(text))
        text = text[:at] + random_unicode(rng) + text[at:]
    return text


def texts(count=1000):
    """The texts, empty to 100 000 characters."""
    rng = random.Random(20250101)
    out = SPECIAL + SENTENCES + long_texts()
    while len(out) < count:
        out.append(random_unicode(rng) if rng.random() < 0.1 else mixture(rng))
    return out
