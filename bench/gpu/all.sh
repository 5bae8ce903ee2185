#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU and PyTorch: every test of the GPU, then rows G1 to G8 with their peers.
#     bench/gpu/all.sh [folder of the programs] [folder for the results]
# A program that is not there is told and left out; the exit status tells whether all went well.
set -u
programs=${1:-build/cuda/bin}
results=${2:-$(mktemp -d)}
here=$(dirname "$0")
status=0
mkdir -p "$results"

there() {
  [ -x "$programs/$1" ] && return
  echo "$1: not built"
  status=1
  return 1
}

for test in attention_test decode_test additive_test rows_test functor_test gpu_tensor_test gpu_conformance_test; do
  there $test || continue
  if "$programs/$test" --gtest_brief=1 > "$results/$test.log" 2>&1; then
    echo "$test: passed"
  else
    echo "$test: failed"
    tail -n 40 "$results/$test.log"
    status=1
  fi
done

if there attention_bench; then
  echo "G1 to G4, TFLOP/s"
  "$programs/attention_bench" > "$results/attention.jsonl" || status=1
  python3 "$here/peers.py" > "$results/peers.jsonl" 2> "$results/peers.log" || {
    tail -n 5 "$results/peers.log"
    status=1
  }
  python3 "$here/compare.py" "$results/attention.jsonl" "$results/peers.jsonl"
fi

# Lines of name, milliseconds and a note, ours beside the peer's.
beside() {
  there "$1_bench" || return
  echo "$2"
  "$programs/$1_bench" > "$results/$1.ours" || status=1
  python3 "$here/$1_peers.py" > "$results/$1.peer" || status=1
  awk -F '\t' 'NR == FNR { peer[$1] = $2; note[$1] = $3; next }
    { printf "  %-42s %8s ms  %s; peer %s ms (%s): %s\n", $1, $2, $3, peer[$1], note[$1],
      (peer[$1] + 0 > 0 ? sprintf("%.2fx", peer[$1] / $2) : "no peer") }' \
    "$results/$1.peer" "$results/$1.ours"
}
beside decode "G5, times the speed of cuDNN"
beside additive "G6, times the speed of torch.compile"

if there training_bench; then
  python3 "$here/training_peers.py" "$programs/training_bench" || status=1
fi
exit $status
