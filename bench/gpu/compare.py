#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows G1 to G4: lines of JSON of attention_bench and peers.py, as a table with ratios."""

import json
import sys


def main():
    rows = []
    for path in sys.argv[1:]:
        with open(path) as lines:
            rows += [json.loads(line) for line in lines if line.startswith("{")]
    key = lambda r: (r["row"], r["b"], r["h"], r["n"], r["d"])
    peers = {}
    for r in rows:
        if r["who"] != "attn":
            peers.setdefault(key(r), {})[r["who"]] = r
    print(f"{'row':<12}{'B H N D':<20}{'attn fwd/bwd TFLOP/s':>22}   peers: fwd/bwd TFLOP/s "
          "(attn is that many times as fast)")
    for r in rows:
        if r["who"] != "attn":
            continue
        name = r["row"] + (" f32" if r["type"] == "f32" else "")
        shape = f"{r['b']} {r['h']} {r['n']} {r['d']}"
        text = ""
        for who, p in sorted(peers.get(key(r), {}).items()):
            if r["type"] == "f32":
                continue
            if "error" in p:
                text += f"  {who}: failed"
                continue
            text += (f"  {who} {p['forward_tflops']:.0f}/{p['backward_tflops']:.0f} "
                     f"({p['forward_ms'] / r['forward_ms']:.2f}x/"
                     f"{p['backward_ms'] / r['backward_ms']:.2f}x)")
        print(f"{name:<12}{shape:<20}{r['forward_tflops']:>13.0f}/{r['backward_tflops']:<8.0f}"
              f" {text}")


if __name__ == "__main__":
    main()
