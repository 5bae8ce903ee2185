#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/gpu/all.sh measured, beside the peers, and whether the floors are met.

    report.py RESULTS attention|decode|additive|floors

RESULTS holds NAME.ours and NAME.peer of the benches: lines of JSON (attention), or of name,
milliseconds and a note between tabs; and training.json of training_peers.py."""

import json
import os
import sys

# Row: floor of the portable kernels, of Hopper's own, goal; times the peer's speed.
FLOORS = {
    "G1": ("dot forward", 0.5, 0.85, 1.05),
    "G2": ("dot backward", 0.4, 0.7, 1.0),
    "G3": ("soft cap, both ways", 1.0, 2.0, 2.5),
    "G4": ("Gaussian, relative table, ALiBi, window, both ways", 0.8, 1.2, 1.5),
    "G5": ("decode", 0.8, 0.95, 1.0),
    "G6": ("additive forward", 2.0, 3.0, 4.0),
    "G6+": ("additive forward and backward", 4.0, 6.0, 10.0),
    "G7": ("seq2seq training step", 3.0, None, 8.0),
    "G8": ("Transformer-base training step", 0.8, 1.0, 1.3),
}


def json_lines(path):
    if not os.path.exists(path):
        return []
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


def tab_lines(path):
    if not os.path.exists(path):
        return {}
    with open(path) as lines:
        return {name: (ms, note) for name, ms, note in
                (line.rstrip("\n").split("\t") for line in lines if line.count("\t") == 2)}


def attention_pairs(results):
    """Our line of each row with those of its peers by name."""
    key = lambda r: (r["row"], r["b"], r["h"], r["n"], r["d"])
    peers = {}
    for line in json_lines(f"{results}/attention.peer"):
        peers.setdefault(key(line), {})[line["who"]] = line
    for line in json_lines(f"{results}/attention.ours"):
        yield line, {} if line["type"] == "f32" else peers.get(key(line), {})


def attention(results):
    print("G1 to G4, TFLOP/s forward / backward; peers (attn is that many times as fast)")
    for r, peers in attention_pairs(results):
        text = ""
        for who, p in sorted(peers.items()):
            if "error" in p:
                text += f"  {who}: failed"
                continue
            text += (f"  {who} {p['forward_tflops']:.0f}/{p['backward_tflops']:.0f} "
                     f"({p['forward_ms'] / r['forward_ms']:.2f}x/"
                     f"{p['backward_ms'] / r['backward_ms']:.2f}x)")
        name = r["row"] + (" f32" if r["type"] == "f32" else "")
        shape = f"{r['b']} {r['h']} {r['n']} {r['d']}"
        print(f"  {name:<16}{shape:<18}{r['forward_tflops']:>6.0f}/{r['backward_tflops']:<6.0f}"
              f"{r.get('route', ''):<13}{text}", flush=True)


def beside(results, name):
    """Name, our milliseconds and note, and the peer's."""
    peers = tab_lines(f"{results}/{name}.peer")
    for case, (ms, note) in tab_lines(f"{results}/{name}.ours").items():
        yield case, float(ms), note, *peers.get(case, ("-", "no peer"))


def side_by_side(results, name):
    print({"decode": "G5, beside cuDNN", "additive": "G6, beside torch.compile"}[name])
    for case, ms, note, peer, peer_note in beside(results, name):
        ratio = "no peer" if peer == "-" else f"{float(peer) / ms:.2f}x"
        print(f"  {case:<42} {ms:8.4f} ms  {note}; peer {peer} ms ({peer_note}): {ratio}",
              flush=True)


def ratios(results):
    """Row of FLOORS, case, times the peer's speed."""
    for r, peers in attention_pairs(results):
        case = f"{r['row']} {r['b']} {r['h']} {r['n']} {r['d']}"
        for forward, backward, who in (("G1", "G2", "cudnn"), ("G3", "G3", "flex"),
                                       ("G4", "G4", "flex")):
            p = peers.get(who)
            if p is None or "error" in p or (r["row"] == "soft cap") != (forward == "G3"):
                continue
            yield forward, f"{case} forward", p["forward_ms"] / r["forward_ms"]
            yield backward, f"{case} backward", p["backward_ms"] / r["backward_ms"]
    for case, ms, _, peer, _ in beside(results, "decode"):
        if peer != "-":
            yield "G5", case, float(peer) / ms
    for case, ms, _, peer, _ in beside(results, "additive"):
        if peer != "-":
            yield "G6+" if case.startswith("additive_both") else "G6", case, float(peer) / ms
    if os.path.exists(f"{results}/training.json"):
        with open(f"{results}/training.json") as file:
            times = json.load(file)
        for row, ours, peer in (("G7", "gru", "eager"), ("G8", "transformer_bf16", "compiled")):
            if ours in times.get(row, {}) and peer in times[row]:
                yield row, ours, times[row][peer] / times[row][ours]


def floors(results):
    print("Floors, times the speed of the peer: portable kernels, Hopper's own, goal")
    found = {}
    for row, case, ratio in ratios(results):
        if row not in found or ratio < found[row][0]:
            found[row] = (ratio, case)
    for row, (what, portable, hopper, goal) in FLOORS.items():
        if row not in found:
            print(f"  {row:<4}{what}: not measured")
            continue
        ratio, case = found[row]
        word = ("goal met" if ratio >= goal else
                "Hopper's floor met" if hopper is not None and ratio >= hopper else
                "floor met" if ratio >= portable else "BELOW FLOOR")
        print(f"  {row:<4}{what}: at least {ratio:.2f}x ({case}); "
              f"{portable}, {'-' if hopper is None else hopper}, {goal}: {word}")


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("attention", "decode", "additive", "floors"):
        sys.exit(__doc__)
    results, what = sys.argv[1:]
    if what == "attention":
        attention(results)
    elif what == "floors":
        floors(results)
    else:
        side_by_side(results, what)


if __name__ == "__main__":
    main()
