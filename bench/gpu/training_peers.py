#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows G7 and G8: training steps of attn and of the same models in PyTorch, in turn on one GPU.

    training_peers.py [training_bench] [--rounds N] [--rows G7,G8] [--peers eager,compiled] [--json FILE]

A step is forward, backward, clipping and Adam. G7: GRU encoder and decoder of two layers with
additive attention, in fp32 (PyTorch's cuDNN takes TF32 by default; its products do not). G8: the
base Transformer in bf16; PyTorch by autocast, its weights and Adam in fp32, as is usual."""

import argparse
import json
import math
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
from torch import nn

BATCH, WARM_UP, STEPS = 128, 3, 10
DEVICE = "cuda"


class Attention(nn.Module):
    """Bahdanau's, one query a row."""

    def __init__(self, hidden):
        super().__init__()
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, query, keys, values):
        scores = self.score(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(-1)
        return torch.bmm(torch.softmax(scores, -1).unsqueeze(1), values)


class Seq2Seq(nn.Module):
    def __init__(self, words, hidden, layers):
        super().__init__()
        self.source = nn.Embedding(words, hidden)
        self.target = nn.Embedding(words, hidden)
        self.encoder = nn.GRU(hidden, hidden, layers, batch_first=True)
        self.decoder = nn.GRU(2 * hidden, hidden, layers, batch_first=True)
        self.attention = Attention(hidden)
        self.dense = nn.Linear(hidden, words)

    def forward(self, source, target, labels):
        values, state = self.encoder(self.source(source))
        keys = self.attention.key(values)
        words = self.target(target)
        states = []
        for t in range(target.shape[1]):
            context = self.attention(state[-1], keys, values)
            out, state = self.decoder(torch.cat((context, words[:, t : t + 1]), -1), state)
            states.append(out)
        logits = self.dense(torch.cat(states, 1))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Attend(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.key_value = nn.Linear(dim, 2 * dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory, causal):
        q = self.split(self.query(x))
        k, v = (self.split(part) for part in self.key_value(memory).chunk(2, -1))
        seen = F.scaled_dot_product_attention(
            q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=causal)
        return self.out(seen.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    """Norm in front; with `crosses` a layer of the decoder."""

    def __init__(self, dim, heads, wide, dropout, crosses):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3 if crosses else 2))
        self.self_attend = Attend(dim, heads, dropout)
        self.cross = Attend(dim, heads, dropout) if crosses else None
        self.up, self.down = nn.Linear(dim, wide), nn.Linear(wide, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory=None):
        h = self.norms[0](x)
        x = x + self.dropout(self.self_attend(h, h, self.cross is not None))
        if self.cross is not None:
            x = x + self.dropout(self.cross(self.norms[1](x), memory, False))
        h = self.dropout(F.relu(self.up(self.norms[-1](x))))
        return x + self.dropout(self.down(h))


class Transformer(nn.Module):
    def __init__(self, words, dim=512, heads=8, wide=2048, layers=6, dropout=0.1, length=64):
        super().__init__()
        self.source, self.target = nn.Embedding(words, dim), nn.Embedding(words, dim)
        make = lambda crosses: nn.ModuleList(
            Layer(dim, heads, wide, dropout, crosses) for _ in range(layers))
        self.encoder, self.decoder = make(False), make(True)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.dense, self.dropout = nn.Linear(dim, words), nn.Dropout(dropout)
        angle = torch.arange(length).unsqueeze(1) * torch.exp(
            torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        self.register_buffer("sines", torch.stack((angle.sin(), angle.cos()), -1).flatten(1))
        self.scale = math.sqrt(dim)

    def forward(self, source, target, labels):
        place = lambda x: self.dropout(x * self.scale) + self.sines
        x = place(self.source(source))
        for layer in self.encoder:
            x = layer(x)
        memory, x = self.norms[0](x), place(self.target(target))
        for layer in self.decoder:
            x = layer(x, memory)
        logits = self.dense(self.dropout(self.norms[1](x)))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1)


def training_step(model, words, length, bf16):
    model = model.to(DEVICE).train()
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    ids = [torch.randint(4, words, (BATCH, length), device=DEVICE) for _ in range(3)]

    def step(call):
        adam.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, torch.bfloat16, enabled=bf16):
            loss = call(*ids)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()

    return model, step


def milliseconds(run):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / STEPS * 1e3


def contenders(row, wanted):
    """Names and steps; a name that cannot run is told and left out."""
    torch.manual_seed(1)
    if row == "G7":
        model, step = training_step(Seq2Seq(10_000, 512, 2), 10_000, 30, False)
    else:
        model, step = training_step(Transformer(16_000), 16_000, 64, True)
    calls = {"eager": model, "compiled": torch.compile(model)}
    for name in wanted:
        call = calls[name]
        run = lambda call=call: step(call)
        begin = time.perf_counter()
        try:
            for _ in range(WARM_UP):
                run()
            torch.cuda.synchronize()
        except Exception as failure:  # a peer that cannot serve a row is no reason to stop
            print(f"  {row} PyTorch {name}: {str(failure)[:120]}", flush=True)
            continue
        print(f"  {row} PyTorch {name}: first steps {time.perf_counter() - begin:.0f} s",
              flush=True)
        yield name, run


def ours(program, name):
    said = subprocess.run([program, name], capture_output=True, text=True, check=False)
    for line in said.stdout.splitlines():
        parts = line.split("\t")
        if parts[0] == name:
            return float(parts[1])
    raise RuntimeError(f"{program} {name}: {said.stderr.strip()[-300:]}")


OURS = {"G7": ["gru", "gru_tf32"], "G8": ["transformer_bf16"]}
TITLES = {"G7": "GRU seq2seq with additive attention", "G8": "Transformer-base in bf16"}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/cuda/bin/training_bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", default="G7,G8")
    parser.add_argument("--peers", default="eager,compiled")
    parser.add_argument("--json", help="write the milliseconds of each row to this file")
    args = parser.parse_args()
    found = {}
    for row in args.rows.split(","):
        peers = dict(contenders(row, args.peers.split(",")))
        times = {}
        for _ in range(args.rounds):
            for name, run in peers.items():
                times.setdefault(name, []).append(milliseconds(run))
            for name in OURS[row]:
                times.setdefault(name, []).append(ours(args.program, name))
        best = {name: statistics.median(all) for name, all in times.items()}
        found[row] = best
        print(f"{row} {TITLES[row]}, milliseconds of a step")
        for name in peers:
            print(f"  PyTorch {name:<12} {best[name]:8.2f}")
        for name in OURS[row]:
            ratios = ", ".join(f"{best[peer] / best[name]:.2f}x {peer}" for peer in peers)
            print(f"  attn {name:<17} {best[name]:6.2f}  {ratios}", flush=True)
        del peers
        torch.cuda.empty_cache()
    if args.json:
        with open(args.json, "w") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main()
