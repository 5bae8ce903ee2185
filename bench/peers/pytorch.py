#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch 2 as a contender, float32 on the CPU, and by itself also bfloat16.

    python3 pytorch.py --threads 2,16          the S rows, one JSON object a line
    python3 pytorch.py --serve [--compile]     the line protocol of peers/child.cpp, for
                                               attn-bench --peer "pytorch=python3 pytorch.py --serve"

Needs torch >= 2.0 and numpy, and nothing of attn.
"""

import argparse
import json
import math
import os
import platform
import resource
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

KINDS = {
    "forward": ("dot", "forward", "all"),
    "backward": ("dot", "backward", "all"),
    "both": ("dot", "both", "all"),
    "forward_causal": ("dot", "forward", "causal"),
    "backward_causal": ("dot", "backward", "causal"),
    "both_causal": ("dot", "both", "causal"),
    "forward_window": ("dot", "forward", "window"),
    "backward_window": ("dot", "backward", "window"),
    "both_window": ("dot", "both", "window"),
    "additive_forward": ("additive", "forward", "all"),
    "additive_both": ("additive", "both", "all"),
}


class Problem:
    """forward_causal/b:1/h:8/n:4096/d:64, as in problem.hpp."""

    def __init__(self, name):
        head, *sizes = name.split("/")
        self.name = name
        self.family, self.which, self.keep = KINDS[head]
        values = {"b": 1, "h": 1, "n": 1, "d": 1, "w": 0}
        values.update((key, int(number)) for key, number in (s.split(":") for s in sizes))
        self.b, self.h, self.n, self.d, self.w = (values[key] for key in "bhndw")
        self.m = values.get("m", self.n)

    def kept(self):
        """True where a pair exists; causal is aligned bottom-right."""
        last = torch.arange(self.n)[:, None] + self.m - self.n
        key = torch.arange(self.m)[None, :]
        keep = key <= last
        return keep & (key > last - self.w) if self.keep == "window" else keep

    def flop(self):
        pairs = self.n * self.m if self.keep == "all" else int(self.kept().sum())
        units = self.b * self.h * self.d * pairs
        if self.family == "additive":
            return units
        return {"forward": 4, "backward": 10, "both": 14}[self.which] * units


def now():
    """Wall time, or processor time over threads where attn-bench was told --clock cpu."""
    if os.environ.get("ATTN_BENCH_CLOCK") == "cpu":
        return time.process_time() / torch.get_num_threads()
    return time.perf_counter()


def mix(x):
    """splitmix64 on a numpy array; the generator of data.cpp."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def numbers(shape, seed, deviation=1.0):
    """The same bits as fill() in data.cpp."""
    scale = np.float32(deviation) * np.sqrt(np.float32(3)) / np.float32(65536)
    with np.errstate(over="ignore"):
        start = mix(np.array([seed], dtype=np.uint64))[0]
        bits = mix(np.arange(math.prod(shape), dtype=np.uint64) + start)
    low = np.uint64(0xFFFF)
    total = sum(((bits >> np.uint64(s)) & low).astype(np.int64) for s in (0, 16, 32, 48))
    values = (total - 2 * 65535).astype(np.float32) * scale
    return torch.from_numpy(values.reshape(shape))


def additive(q, k, v, wq, wk, w):
    hidden = torch.tanh((q @ wq).unsqueeze(2) + (k @ wk).unsqueeze(1))
    return torch.softmax(hidden @ w, -1) @ v


class Task:
    def __init__(self, problem, dtype=torch.float32, compiled=False):
        p = self.p = problem
        shape = (lambda rows: (p.b, p.h, rows, p.d)) if p.family == "dot" else (
            lambda rows: (p.b, rows, p.d))
        self.inputs = [numbers(shape(p.n), 1), numbers(shape(p.m), 2), numbers(shape(p.m), 3)]
        self.names = ["dq", "dk", "dv"]
        if p.family == "additive":
            deviation = 1 / np.sqrt(np.float32(p.d))
            self.inputs += [numbers((p.d, p.d), 5, deviation), numbers((p.d, p.d), 6, deviation),
                            numbers((p.d,), 7, deviation)]
            self.names += ["dwq", "dwk", "dw"]
            self.attention = torch.compile(additive) if compiled else additive
        else:
            self.attention = self.dot
        self.inputs = [x.to(dtype) for x in self.inputs]
        self.grads = []
        if p.which != "forward":
            self.grad_out = numbers(shape(p.n), 4).to(dtype)
            for x in self.inputs:
                x.requires_grad_(True)
        self.mask = p.kept() if p.keep == "window" or (p.keep == "causal" and p.n != p.m) else None

    def dot(self, q, k, v):
        causal = self.p.keep == "causal" and self.mask is None
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask, is_causal=causal)

    def call(self):
        """Seconds of the part that the problem names; a backward's forward is not timed."""
        self.out, self.grads = None, []
        start = now()
        if self.p.which == "forward":
            with torch.no_grad():
                self.out = self.attention(*self.inputs)
        else:
            out = self.attention(*self.inputs)
            if self.p.which == "backward":
                start = now()
            self.grads = list(torch.autograd.grad(out, self.inputs, self.grad_out))
            self.out = out.detach()
        return now() - start

    def witness(self):
        tensors = [] if self.p.which == "backward" else [("out", self.out)]
        tensors += list(zip(self.names, self.grads))
        part = (lambda x: x[-1, -1]) if self.p.family == "dot" else (lambda x: x)
        return [(name, part(x).float().contiguous().numpy()) for name, x in tensors]

    def output_bytes(self):
        return sum(x.numel() * x.element_size() for x in [self.out, *self.grads])


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def memory(task):
    """Bytes by which resident memory peaked above the start, results not counted."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = status("VmRSS:")
    except OSError:
        return task.call(), -1
    seconds = task.call()
    return seconds, max(0, status("VmHWM:") - before - task.output_bytes())


def serve(compiled):
    torch.set_num_interop_threads(1)
    tasks = {}
    for line in sys.stdin:
        try:
            verb, name, threads, *rest = line.split()
            torch.set_num_threads(int(threads))
            if verb == "memory":
                seconds, extra = memory(Task(Problem(name), compiled=compiled))
                answer = {"seconds": seconds, "extra_bytes": extra}
            else:
                if name not in tasks:
                    tasks.clear()
                    tasks[name] = Task(Problem(name), compiled=compiled)
                    tasks[name].call()
                task = tasks[name]
                if verb == "run":
                    calls = int(rest[0])
                    answer = {"seconds": sum(task.call() for _ in range(calls)) / calls}
                elif verb == "check":
                    task.call()
                    results = task.witness()
                    with open(rest[0], "wb") as file:
                        for _, values in results:
                            file.write(values.tobytes())
                    answer = {"tensors": [[tensor, values.size] for tensor, values in results]}
                else:
                    raise ValueError(f"unknown verb {verb}; there are run, check, memory")
        except Exception as failure:  # An answer is owed whatever happens.
            answer = {"error": str(failure)}
        print(json.dumps(answer), flush=True)


S_ROWS = [
    ("b:4/h:8/n:1024/d:64", "", torch.float32),
    ("b:1/h:8/n:4096/d:64", "", torch.float32),
    ("b:1/h:8/n:4096/d:128", "", torch.float32),
    ("b:1/h:8/n:4096/d:64", "_causal", torch.float32),
    ("b:1/h:8/n:4096/d:64", "", torch.bfloat16),
    ("b:1/h:8/n:4096/d:128", "", torch.bfloat16),
]


def report(task, threads, variant, repetitions):
    task.call()
    task.call()
    samples = sorted(task.call() for _ in range(repetitions))
    seconds = samples[0]
    print(json.dumps({
        "name": f"S/{task.p.name}/threads:{threads}", "peer": "pytorch", "variant": variant,
        "seconds": seconds, "rate": task.p.flop() / seconds,
        "unit": "tanh" if task.p.family == "additive" else "FLOP",
        "noise": samples[len(samples) // 2] / seconds - 1, "repetitions": repetitions,
    }), flush=True)


def standalone(thread_counts, repetitions):
    print(json.dumps({
        "machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
        "torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability(),
        "mkldnn": torch.backends.mkldnn.is_available(),
    }), flush=True)
    for threads in thread_counts:
        torch.set_num_threads(threads)
        a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
        seconds = min(timed(lambda: a @ b) for _ in range(2 * repetitions))
        print(json.dumps({"name": f"S/product/n:2048/threads:{threads}", "peer": "pytorch",
                          "variant": "float32", "seconds": seconds, "unit": "FLOP",
                          "rate": 2 * 2048**3 / seconds}), flush=True)
        for shape, mask, dtype in S_ROWS:
            for which in ("forward", "backward"):
                task = Task(Problem(f"{which}{mask}/{shape}"), dtype)
                report(task, threads, str(dtype).removeprefix("torch."), repetitions)
        for compiled in (False, True):
            for which in ("forward", "both"):
                problem = Problem(f"additive_{which}/b:8/n:128/m:512/d:256")
                try:
                    report(Task(problem, compiled=compiled), threads,
                           "compiled" if compiled else "eager", repetitions)
                except Exception as failure:  # No compiler at hand: the other lines still count.
                    print(json.dumps({"name": f"S/{problem.name}/threads:{threads}",
                                      "variant": "compiled", "error": str(failure)[:200]}),
                          flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"peak_bytes_of_process": peak}), flush=True)


def timed(job):
    start = now()
    job()
    return now() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help="answer requests on standard input")
    parser.add_argument("--compile", action="store_true", help="torch.compile additive attention")
    parser.add_argument("--threads", default="2,16", help="thread counts, for example 2,16")
    parser.add_argument("--repetitions", type=int, default=10)
    args = parser.parse_args()
    if args.serve:
        serve(args.compile)
    else:
        standalone([int(t) for t in args.threads.split(",")], args.repetitions)


if __name__ == "__main__":
    main()
