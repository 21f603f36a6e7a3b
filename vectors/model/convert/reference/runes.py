"""Writes what the reference tokenizer makes of every code point: see README.md."""

import itertools
import pathlib
import sys

from float32 import Network

OUT = pathlib.Path(__file__).resolve().parents[4] / "vectors/bert/wordpiece/testdata/runes.txt"
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic: tested by itself


def behaviour(tokenizer, c):
    """Words of a letter, c and another letter, as one string."""
    text = tokenizer.normalizer.normalize_str("a" + chr(c) + "b")
    words = [w for w, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
    match words:
        case ["ab"]:
            return "drop"
        case ["a", "b"]:
            return "space"
        case ["a", mark, "b"] if mark == chr(c):
            return "alone"
        case [word] if word == "a" + chr(c) + "b":
            return "letter"
    return "=" + "|".join(",".join(f"{ord(x):x}" for x in w) for w in words)


def main():
    tokenizer = Network(sys.argv[1]).tokenizer
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in HANGUL]
    lines = ["# What the reference makes of a rune between the letters a and b, for each",
             "# range of runes: drop, space, alone (a word of its own), letter (kept), or",
             "# the words that result. Hangul syllables and surrogates are left out."]
    for kind, run in itertools.groupby(points, key=lambda c: behaviour(tokenizer, c)):
        run = list(run)
        lines.append(f"{run[0]:x} {run[-1]:x} {kind}")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
