# SPDX-License-Identifier: Apache-2.0
"""Times of a call on the GPU, as decode_timer.cuh takes them: events, a flushed cache, a median."""

import statistics

import torch

flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")


def median(run, count=31):
    for _ in range(3):
        run()
    times = []
    for _ in range(count):
        flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)
