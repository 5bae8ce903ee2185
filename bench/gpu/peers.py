#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of attention_bench in PyTorch: SDPA on cuDNN and FlashAttention-2, and compiled
FlexAttention. One line of JSON a row; times are medians of CUDA events."""

import json
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

WARM_UP, REPETITIONS = 3, 25


def median_time(call):
    for _ in range(WARM_UP):
        call()
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)]
              for _ in range(REPETITIONS)]
    for begin, end in events:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return sorted(begin.elapsed_time(end) for begin, end in events)[REPETITIONS // 2]


def inputs(b, h, n, d):
    torch.manual_seed(1)
    return [torch.randn(b, h, n, d, device="cuda", dtype=torch.bfloat16, requires_grad=True)
            for _ in range(3)]


def report(who, row, shape, share, attend):
    b, h, n, d = shape
    try:
        q, k, v = inputs(*shape)
        out = attend(q, k, v)
        grad = torch.randn_like(out)
        with torch.no_grad():
            forward = median_time(lambda: attend(q, k, v))
        backward = median_time(
            lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True))
    except Exception as error:  # a peer that cannot serve a row is no reason to stop
        print(json.dumps({"who": who, "row": row, "b": b, "h": h, "n": n, "d": d,
                          "error": str(error)[:120]}), flush=True)
        return
    flop = 4.0 * b * h * n * n * d * share
    print(json.dumps({
        "who": who, "type": "bf16", "row": row, "b": b, "h": h, "n": n, "d": d,
        "forward_ms": round(forward, 4), "backward_ms": round(backward, 4),
        "forward_tflops": round(flop / forward * 1e-9, 1),
        "backward_tflops": round(2.5 * flop / backward * 1e-9, 1)}), flush=True)


def sdpa(backend, causal):
    def attend(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return attend


def flex(score=None, mask=None, n=4096):
    torch._dynamo.reset()  # or the variants before this one count as its recompilations
    compiled = torch.compile(flex_attention, dynamic=False)
    block_mask = None
    if mask is not None:
        block_mask = create_block_mask(mask, None, None, n, n, device="cuda")
    return lambda q, k, v: compiled(q, k, v, score_mod=score, block_mask=block_mask)


def main():
    large = (4, 16, 4096, 128)
    for shape in (large, (1, 16, 16384, 128), (4, 32, 4096, 64)):
        for row, share in (("full", 1.0), ("causal", 0.5)):
            for who, backend in (("cudnn", SDPBackend.CUDNN_ATTENTION),
                                 ("flash", SDPBackend.FLASH_ATTENTION)):
                report(who, row, shape, share, sdpa(backend, row == "causal"))
    report("cudnn", "full", (16, 16, 1024, 128), 1.0, sdpa(SDPBackend.CUDNN_ATTENTION, False))

    b, h, n, _ = large
    centres = torch.arange(n, device="cuda", dtype=torch.float32).expand(b, h, n).contiguous()
    entries = torch.full((h, 2 * n - 1), 0.1, device="cuda")
    slopes = torch.tensor([2.0 ** (-8 * (i + 1) / h) for i in range(h)], device="cuda")

    def soft_cap(s, b, h, q, k):
        return 30.0 * torch.tanh(s / 30.0)

    def gaussian(s, b, h, q, k):
        z = (k - centres[b, h, q]) / 256.0
        return s - 0.5 * z * z

    def relative(s, b, h, q, k):
        return s + entries[h, k - q + n - 1]

    def alibi(s, b, h, q, k):
        return s - slopes[h] * (q - k)

    def causal(b, h, q, k):
        return k <= q

    def window(b, h, q, k):
        return (k <= q) & (k >= q - 512)

    share = (512.0 * n - 512.0 * 512 / 2) / n**2
    report("flex", "soft cap", large, 1.0, flex(soft_cap))
    report("flex", "gaussian", large, 1.0, flex(gaussian))
    report("flex", "relative", large, 1.0, flex(relative))
    report("flex", "alibi", large, 0.5, flex(alibi, causal))
    report("flex", "window 512", large, share, flex(None, window))


if __name__ == "__main__":
    main()
