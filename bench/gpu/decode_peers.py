# SPDX-License-Identifier: Apache-2.0
"""Decoding with PyTorch's attention on cuDNN: the shapes of decode.cu, name and milliseconds."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from timing import median

SHAPES = [(16, 32, 1, 8192, 128), (1, 32, 1, 65536, 128), (16, 8, 4, 8192, 128),
          (16, 8, 8, 8192, 128), (16, 32, 1, 8192, 64)]


def main():
    for b, h, g, m, d in SHAPES:
        q = torch.randn(b, h * g, 1, d, device="cuda", dtype=torch.bfloat16)
        k, v = (torch.randn(b, h, m, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))

        def run():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=g > 1)

        name = f"decode/b:{b}/h:{h}/g:{g}/m:{m}/d:{d}"
        try:
            ms = median(run)
        except RuntimeError as error:
            print(f"{name}\t-\t{str(error).splitlines()[0]}")
            continue
        print(f"{name}\t{ms:.4f}\t{4 * b * h * m * d / ms * 1e-9:.2f} TB/s", flush=True)


main()
