"""Throughput of the engine and of ONNX Runtime, in turn: see README.md."""

import argparse
import os
import pathlib
import subprocess
import time
import zipfile

import numpy as np
import onnxruntime

import texts as material

# Each figure is the best of so many passes, which other work on the machine
# disturbs least; a pass is all documents, or so many queries.
PASSES = 15
QUERIES = 20
ROOT = pathlib.Path(__file__).resolve().parents[4]


def documents(tokenizer):
    """Token ids of passages of 240 tokens, as the engine's benchmark has them."""
    ids = tokenizer.encode(" ".join(material.SENTENCES[:12] * 40), add_special_tokens=False).ids
    return [[101, *ids[i : i + 238], 102] for i in range(0, 238 * 16, 238)]


def runtime(model, threads, docs):
    """Tokens per second, and milliseconds for 12 tokens."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]

    def run(ids):
        a = np.array([ids], np.int64)
        feed = {"input_ids": a, "attention_mask": np.ones_like(a), "token_type_ids": np.zeros_like(a)}
        session.run(None, {n: feed[n] for n in names})

    def seconds(work):
        start = time.perf_counter()
        for ids in work:
            run(ids)
        return time.perf_counter() - start

    run(docs[0])
    queries = [docs[0][:11] + [102]] * QUERIES
    throughput = sum(map(len, docs)) / min(seconds(docs) for _ in range(PASSES))
    return throughput, 1e3 * min(seconds(queries) for _ in range(PASSES)) / QUERIES


def engine(tier):
    """The engine's benchmarks: tokens per second and milliseconds likewise."""

    def best(name, times, field, choose):
        out = subprocess.run(
            ["go", "test", "-run", "^$", "-bench", name + "$", "-benchtime", f"{times}x", "-count", str(PASSES), "./vectors/bert"],
            cwd=ROOT, env=os.environ | {"NOTESD_BERT_TIER": tier}, capture_output=True, text=True, check=True,
        ).stdout
        return choose(float(line.split()[field]) for line in out.splitlines() if line.startswith("Benchmark"))

    return best("Documents2Threads", 1, 4, max), best("Query", QUERIES, 2, min) / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jar")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tiers", default="avx512vnni,avx2")
    args = parser.parse_args()

    from tokenizers import Tokenizer

    with zipfile.ZipFile(args.jar) as z:
        model = next(z.read(n) for n in z.namelist() if n.endswith(".onnx"))
        tokenizer = Tokenizer.from_str(next(z.read(n) for n in z.namelist() if n.endswith("tokenizer.json")).decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    docs = documents(tokenizer)
    print("| round | implementation | documents, 2 threads: tokens/s | 12 tokens: ms |\n|---|---|---|---|")
    for i in range(args.rounds):
        rows = [("ONNX Runtime " + onnxruntime.__version__, *runtime(model, 2, docs))]
        rows += [("notesd " + tier, *engine(tier)) for tier in args.tiers.split(",")]
        for name, throughput, latency in rows:
            print(f"| {i + 1} | {name} | {throughput:.0f} | {latency:.2f} |", flush=True)


if __name__ == "__main__":
    main()
