"""Compares the engine with the original in float32: see README.md."""

import argparse
import base64
import json
import pathlib
import subprocess
import sys

import numpy as np

import texts as material
from float32 import Network

ROOT = pathlib.Path(__file__).resolve().parents[4]
TESTDATA = ROOT / "vectors/bert/testdata/reference.jsonl"


def engine(inputs, model):
    """Runs the engine over texts: a list of (ids, vector)."""
    lines = "".join(json.dumps({"text": t}) + "\n" for t in inputs)
    command = ["go", "run", "./vectors/model/convert/reference"] + (["-model", model] if model else [])
    out = subprocess.run(command, cwd=ROOT, input=lines, capture_output=True, text=True)
    sys.stderr.write(out.stderr)
    out.check_returncode()
    results = map(json.loads, out.stdout.splitlines())
    return [(r["ids"], np.array(r["vector"], np.float32)) for r in results]


def write_testdata(inputs, ids, vectors):
    """Writes the special texts, the sentences and one long text, the latter as a unit and a count."""
    chosen = [(t, 1) for t in material.SPECIAL[::3] + material.SENTENCES[::3]] + [("word ", 20_000)]
    index = {t: i for i, t in reversed(list(enumerate(inputs)))}
    with open(TESTDATA, "w", encoding="utf-8") as f:
        for text, repeat in chosen:
            i = index[text * repeat]
            packed = np.round(vectors[i] * 32767).astype("<i2").tobytes()
            line = {"text": text, "repeat": repeat, "ids": ids[i], "vector": base64.b64encode(packed).decode()}
            f.write(json.dumps(line, ensure_ascii=True) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel")
    parser.add_argument("--texts")
    parser.add_argument("--model", default="")
    parser.add_argument("--testdata", action="store_true")
    args = parser.parse_args()

    inputs = material.texts()
    if args.texts:
        inputs += [json.loads(line)["text"] for line in open(args.texts, encoding="utf-8")]
    network = Network(args.wheel)
    ids = [network.ids(t) for t in inputs]
    vectors = [network.embed(i) for i in ids]
    results = engine(inputs, args.model)

    different = [t for t, want, (got, _) in zip(inputs, ids, results) if want != got]
    for text in different[:20]:
        print("token ids differ:", repr(text[:100]))
    cosines = np.array([v @ w / np.linalg.norm(w) for v, (_, w) in zip(vectors, results)])
    for i in cosines.argsort()[:5]:
        print(f"cosine {cosines[i]:.5f}: {inputs[i][:80]!r}")
    print(f"{len(inputs)} texts, {sum(map(len, ids))} tokens: {len(different)} with other token ids, "
          f"cosine mean {cosines.mean():.5f}, worst {cosines.min():.5f}")
    if args.testdata:
        write_testdata(inputs, ids, vectors)
    if different or cosines.mean() < 0.998 or cosines.min() < 0.985:
        sys.exit(1)


if __name__ == "__main__":
    main()
