# SPDX-License-Identifier: Apache-2.0
"""Additive attention by torch.compile: the shapes of additive.cu, name and milliseconds."""

import torch

from timing import median

SHAPES = [(8, 128, 512, 256), (4, 1024, 1024, 256)]


def additive(q, k, v, w):
    hidden = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1))
    return torch.softmax(hidden @ w, -1) @ v


def main():
    for b, n, m, d in SHAPES:
        torch._dynamo.reset()
        compiled = torch.compile(additive, dynamic=False)
        shapes = [(b, n, d), (b, m, d), (b, m, d), (d,)]
        inputs = [torch.randn(s, device="cuda") for s in shapes]
        leaves = [x.clone().requires_grad_() for x in inputs]
        d_out = torch.randn(b, n, d, device="cuda")

        def forward():
            with torch.no_grad():
                compiled(*inputs)

        def both():
            torch.autograd.grad(compiled(*leaves), leaves, d_out)

        for what, run in [("additive_forward", forward), ("additive_both", both)]:
            torch.cuda.reset_peak_memory_stats()
            ms = median(run)
            peak = torch.cuda.max_memory_allocated() * 1e-6
            print(f"{what}/b:{b}/n:{n}/m:{m}/d:{d}\t{ms:.4f}\tpeak {peak:.0f} MB", flush=True)


main()
