#!/bin/sh
# On a machine with a GPU: tests, bench and peers of the GPU's attention, then rows G1 to G4.
# bench/gpu/run.sh [folder with attention_test and attention_bench] [folder for the results]
set -u
programs=${1:-build/cuda/bin}
results=${2:-.}
here=$(dirname "$0")
"$programs/attention_test" --gtest_brief=1 > "$results/test.log" 2>&1
echo "tests: exit $?"
tail -n 40 "$results/test.log"
"$programs/attention_bench" > "$results/attn.jsonl" || echo "attention_bench failed"
python3 "$here/peers.py" > "$results/peers.jsonl" 2> "$results/peers.log" || tail -n 5 "$results/peers.log"
python3 "$here/compare.py" "$results/attn.jsonl" "$results/peers.jsonl"
