#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch as a contender in decoding: the Transformer of a model folder, in eager float32.

    attn-bench --rows M2 --tokens DIR                   writes what attn read and answered
    python3 pytorch_translate.py DIR/translate-64.json  answers the same, compares, and times
    python3 pytorch_translate.py --serve                the line protocol, for
        attn-bench --rows M2 --peer "pytorch=python3 pytorch_translate.py --serve"

It does what a careful user would: keys and values are kept, beams are rows of one batch and
share the memory of their source, bookkeeping is tensors and no Python loops, and sentences that
are done leave the batch. Needs torch >= 1.13, and nothing of attn.
"""

import argparse
import json
import math
import os
import struct
import sys
import time

import torch
import torch.nn.functional as F

PAD, BOS, EOS = 0, 1, 2
DTYPES = {"BF16": torch.bfloat16, "F16": torch.float16, "F32": torch.float32}


def now(threads):
    """Wall time, or processor time over threads where attn-bench was told --clock cpu."""
    if os.environ.get("ATTN_BENCH_CLOCK") == "cpu":
        return time.process_time() / threads
    return time.perf_counter()


def read_safetensors(path):
    """name -> float32 tensor."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        count = math.prod(entry["shape"])
        flat = torch.frombuffer(data, dtype=dtype, count=count, offset=begin)
        tensors[name] = flat.reshape(entry["shape"]).float()
        assert count * flat.element_size() == end - begin, name
    return tensors


def attention(q, k, v, mask=None):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ v


def sinusoids(positions, dim):
    rates = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * rates
    table = torch.empty(positions, dim, dtype=torch.float64)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : dim // 2]
    return table.float()


class Transformer:
    """Norms in front, sines added to words, tables tied as the folder says."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json")) as file:
            config = json.load(file)
        self.options = options = config["model"]
        served = {"kind": ["transformer"], "positions": ["sinusoidal"],
                  "copy": ["none", "pointer"]}
        for option, values in served.items():
            if options[option] not in values:
                raise ValueError(f"{folder}: {option} {options[option]}; there is {values}")
        self.weights = w = read_safetensors(os.path.join(folder, "model.safetensors"))
        self.heads, self.dim = options["heads"], options["dim"]
        self.target = w["words.target"]
        self.source = self.target if options["tie"] == "all" else w["words.source"]
        self.output = w["words.output"] if options["tie"] == "none" else self.target
        self.places = sinusoids(2048, self.dim)
        self.copies = options["copy"] != "none"

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, (self.dim,), self.weights[name + ".weight"],
                            self.weights[name + ".bias"])

    def split(self, x, parts=1):
        """[rows, positions, parts * dim] -> parts of [rows, heads, positions, channels]."""
        rows, positions, _ = x.shape
        x = x.view(rows, positions, parts, self.heads, -1).permute(2, 0, 3, 1, 4)
        return x.unbind(0)

    def join(self, x):
        rows, _, positions, _ = x.shape
        return x.transpose(1, 2).reshape(rows, positions, self.dim)

    def feed(self, x, at):
        hidden = F.relu(self.linear(self.norm(x, at + "feed_norm"), at + "feed.in"))
        return x + self.linear(hidden, at + "feed.out")

    def words(self, table, ids, first=0):
        places = self.places[first:first + ids.size(1)]
        return F.embedding(ids, table) * math.sqrt(self.dim) + places

    def encode(self, ids, mask):
        x = self.words(self.source, ids)
        for i in range(self.options["encoder_layers"]):
            at = f"encoder.{i}."
            q, k, v = self.split(self.linear(self.norm(x, at + "self_norm"), at + "self.in"), 3)
            x = x + self.linear(self.join(attention(q, k, v, mask)), at + "self.out")
            x = self.feed(x, at)
        return self.norm(x, "encoder.norm")


class Past:
    """All that a decoding keeps: the memory of each source, the keys and values of each row."""

    def __init__(self, model, ids, lengths):
        self.ids = ids
        self.kept = torch.arange(ids.size(1)) < lengths[:, None]
        self.mask = self.kept[:, None, None, :]
        memory = model.encode(ids, self.mask)
        layers = range(model.options["decoder_layers"])
        self.memory = [model.split(model.linear(memory, f"decoder.{i}.source.key_value"), 2)
                       for i in layers]
        self.past = [None for _ in layers]
        self.length = 0
        if model.copies:
            self.values = memory * self.kept[:, :, None]
            self.keys = model.linear(self.values, "copy.pointer.W_h")

    def select(self, rows):
        self.past = [(k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.past]

    def select_sources(self, sources):
        self.ids, self.kept = self.ids[sources], self.kept[sources]
        self.mask = self.kept[:, None, None, :]
        self.memory = [(k[sources], v[sources]) for k, v in self.memory]
        if hasattr(self, "keys"):
            self.values, self.keys = self.values[sources], self.keys[sources]


def step(model, past, tokens):
    """tokens [sources, beam] -> log P [sources, beam, vocabulary]."""
    sources, beam = tokens.shape
    rows = sources * beam
    # Beams are not positions: all are at the same place.
    inputs = F.embedding(tokens, model.target) * math.sqrt(model.dim) + model.places[past.length]
    x = inputs
    for i in range(model.options["decoder_layers"]):
        at = f"decoder.{i}."
        row = model.linear(model.norm(x, at + "self_norm"), at + "self.in").view(rows, 1, -1)
        q, k, v = model.split(row, 3)
        if past.past[i] is not None:
            k = torch.cat([past.past[i][0], k], 2)
            v = torch.cat([past.past[i][1], v], 2)
        past.past[i] = (k, v)
        looked = model.join(attention(q, k, v)).view(sources, beam, -1)
        x = x + model.linear(looked, at + "self.out")
        q, = model.split(model.linear(model.norm(x, at + "source_norm"), at + "source.query"))
        looked = model.join(attention(q, *past.memory[i], past.mask))
        x = model.feed(x + model.linear(looked, at + "source.out"), at)
    past.length += 1
    states = model.norm(x, "decoder.norm")
    logits = F.linear(states, model.output, model.weights["words.bias"])
    return copied(model, past, inputs, states, logits) if model.copies else logits.log_softmax(-1)


def copied(model, past, inputs, states, logits):
    """log of g softmax(logits) + (1 - g) of the source's words, by additive attention."""
    w = model.weights
    queries = model.linear(states, "copy.pointer.W_s")
    scores = torch.tanh(queries[:, :, None] + past.keys[:, None]) @ w["copy.pointer.v"]
    weights = scores.masked_fill(~past.kept[:, None], -math.inf).softmax(-1)
    gate = torch.sigmoid(model.linear(weights @ past.values, "copy.pointer.gen_h") +
                         model.linear(states, "copy.pointer.gen_s") +
                         model.linear(inputs, "copy.pointer.gen_x") + w["copy.pointer.gen_b"])
    ids = past.ids[:, None].expand_as(weights)
    mixed = (gate * logits.softmax(-1)).scatter_add(2, ids, (1 - gate) * weights)
    return torch.log(mixed + 1e-12)


@torch.no_grad()
def search(model, sources, beam, length_penalty, max_length):
    """The best answer to each source: beam search, scores log P / ((5 + n) / 6)^penalty."""
    lengths = torch.tensor([len(s) for s in sources])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in sources], batch_first=True)
    past = Past(model, ids, lengths)
    count = len(sources)
    vocabulary = model.output.size(0)
    penalty = lambda n: ((5.0 + n) / 6.0) ** length_penalty

    index = torch.arange(count)  # of the sources that are not done
    total = torch.full((count, beam), -math.inf)
    total[:, 0] = 0.0  # All rows begin as the same hypothesis.
    tokens = torch.full((count, beam), BOS)
    ended = torch.zeros(count, dtype=torch.long)
    best = torch.full((count,), -math.inf)
    said = [[] for _ in range(count)]
    hypotheses = torch.empty(count, beam, 0, dtype=torch.long)
    ranks = torch.arange(2 * beam)

    for length in range(max_length + 1):
        here = len(index)
        believed = step(model, past, tokens)
        believed[:, :, PAD] = -math.inf
        believed[:, :, BOS] = -math.inf
        all_scores = (total[:, :, None] + believed).view(here, -1)
        scores, flat = all_scores.topk(2 * beam)
        parents = torch.div(flat, vocabulary, rounding_mode="floor")
        words = flat - parents * vocabulary

        is_end = words == EOS
        ends = is_end & (ranks < beam)
        ended += ends.sum(1)
        candidate, at = (scores / penalty(length)).masked_fill(~ends, -math.inf).max(1)
        better = candidate > best
        best = torch.where(better, candidate, best)
        if better.any():
            row = parents.gather(1, at[:, None])
            for i in better.nonzero().flatten().tolist():
                said[index[i]] = hypotheses[i, row[i, 0]]

        # The first beam of candidates that do not end; a stable sort keeps their order.
        order = is_end.long().sort(dim=1, stable=True).indices[:, :beam]
        total = scores.gather(1, order)
        parents = parents.gather(1, order)
        tokens = words.gather(1, order)
        if length == max_length:
            for i in (best == -math.inf).nonzero().flatten().tolist():
                said[index[i]] = hypotheses[i, 0]
            break
        # Once as many have ended as are followed, what goes on must be better as it stands.
        enough = torch.where(
            ended >= beam, torch.tensor(penalty(length + 1)), torch.tensor(penalty(max_length))
        )
        done = best >= total[:, 0] / enough
        taken = hypotheses.gather(1, parents[:, :, None].expand(-1, -1, length))
        hypotheses = torch.cat([taken, tokens[:, :, None]], 2)
        rows = (torch.arange(here)[:, None] * beam + parents)
        if done.any():
            left = (~done).nonzero().flatten()
            if len(left) == 0:
                break
            index, total, tokens, ended, best, hypotheses, rows = (
                x[left] for x in (index, total, tokens, ended, best, hypotheses, rows))
            past.select_sources(left)
        past.select(rows.view(-1))
    return [s.tolist() if torch.is_tensor(s) else s for s in said]


class Work:
    """A file of attn-bench: a model, batches of sources, and how to search."""

    def __init__(self, path):
        with open(path) as file:
            self.given = json.load(file)
        self.model = Transformer(self.given["model"])

    def answers(self):
        given = self.given
        return [answer for batch in given["batches"]
                for answer in search(self.model, batch, given["beam"], given["length_penalty"],
                                     given["max_length"])]

    def seconds(self, calls, threads):
        start = now(threads)
        for _ in range(calls):
            self.answers()
        return (now(threads) - start) / calls


def serve():
    torch.set_num_interop_threads(1)
    works = {}
    for line in sys.stdin:
        try:
            verb, path, threads, *rest = line.split()
            torch.set_num_threads(int(threads))
            if path not in works:
                works.clear()
                works[path] = Work(path)
            if verb == "run":
                answer = {"seconds": works[path].seconds(int(rest[0]), int(threads))}
            elif verb == "check":
                answer = {"answers": works[path].answers()}
            else:
                raise ValueError(f"unknown verb {verb}; there are run, check")
        except Exception as failure:  # An answer is owed whatever happens.
            answer = {"error": f"{type(failure).__name__}: {failure}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


def standalone(path, threads, repetitions, out):
    torch.set_num_threads(threads)
    work = Work(path)
    answers = work.answers()
    seconds = min(work.seconds(1, threads) for _ in range(repetitions))
    theirs = work.given.get("answers")
    if theirs is not None:
        same = sum(a == b for a, b in zip(answers, theirs))
        print(f"{same} of {len(theirs)} answers are attn's, token for token")
    tokens = sum(len(a) + 1 for a in answers)
    print(f"torch {torch.__version__}, threads {threads}: {seconds:.3f} s, "
          f"{tokens / seconds:.0f} tokens/s")
    if out:
        with open(out, "w") as file:
            json.dump({"answers": answers, "seconds": seconds}, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokens", nargs="?", help="a file that attn-bench --tokens wrote")
    parser.add_argument("--serve", action="store_true", help="answer requests on standard input")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", help="write answers and time to this JSON file")
    args = parser.parse_args()
    if args.serve:
        serve()
    elif args.tokens:
        standalone(args.tokens, args.threads, args.repetitions, args.out)
    else:
        parser.error("give a file of tokens, or --serve")


if __name__ == "__main__":
    main()
