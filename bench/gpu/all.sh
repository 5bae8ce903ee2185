#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU and PyTorch: builds, checks and times everything of the GPU.
#     bench/gpu/all.sh [folder of the programs] [folder for the results] [folder of pairs]
# Without a folder the preset `cuda` is built first; pairs are for a machine that cannot fetch the
# tasks' data (same_losses.sh). Then every test, the same losses on CPU and
# GPU, the sanitizers over a small grid, and rows G1 to G8 beside their peers. What cannot be run
# is told and left out; the exit status tells whether all went well, floors aside.
set -u
cd "$(dirname "$0")/../.." || exit
here=bench/gpu
programs=${1:-build/cuda/bin}
results=${2:-$(mktemp -d)}
status=0
mkdir -p "$results"

if [ $# -eq 0 ]; then
  cmake --preset cuda && cmake --build build/cuda --target \
    gpu_tests attn attention_bench decode_bench additive_bench training_bench || exit
fi

there() {
  [ -x "$programs/$1" ] && return
  echo "$1: not built"
  status=1
  return 1
}

# logged <name> <command...>: tells whether it passed; one that did not shows its end.
logged() {
  name=$1
  shift
  begin=$(date +%s)
  if "$@" > "$results/$name.log" 2>&1; then
    echo "$name: passed ($(($(date +%s) - begin)) s)"
  else
    echo "$name: failed"
    tail -n 40 "$results/$name.log"
    return 1
  fi
}

# The tests wait for the CPU's answers, so they run beside each other.
echo "Tests"
jobs=""
for test in attention_test decode_test additive_test rows_test functor_test gpu_tensor_test \
  gpu_conformance_test; do
  there $test || continue
  logged $test "$programs/$test" --gtest_brief=1 &
  jobs="$jobs $!"
done
for job in $jobs; do wait "$job" || status=1; done
if there attn; then
  logged same_losses $here/same_losses.sh "$programs/attn" "$results/losses" "${3:-}" || status=1
  grep '^  ' "$results/same_losses.log"
fi

echo "Sanitizers, a small grid"
small() {  # small <program> <filter>: memcheck and racecheck of these tests
  there "$1" || return
  for tool in memcheck racecheck; do
    logged "$1.$tool" timeout 200 compute-sanitizer --tool $tool --error-exitcode 9 \
      "$programs/$1" --gtest_brief=1 --gtest_filter="$2" &
    jobs="$jobs $!"
  done
}
if command -v compute-sanitizer > "$results/sanitizer.path"; then
  jobs=""
  small attention_test 'GpuAttention.EmptyRows*:GpuAttention.HiddenKeysMayBeNan'
  small decode_test 'Decode.ReadsKeysFromPages:Decode.TakesADenseBias*'
  small additive_test 'AdditiveGpu.TakesLengths*'
  small rows_test 'GpuRows.EmptyRows*:GpuRows.Packed*'
  small functor_test '*'
  small gpu_tensor_test 'GpuRnn.Cells*:GpuSoftmax.*:GpuIndex.*:GpuReduce.*:GpuConv.One*'
  for job in $jobs; do wait "$job" || status=1; done
else
  echo "compute-sanitizer: not there"
  status=1
fi

# timed <name> <peer's script>: a bench and its peers, then what they say side by side.
timed() {
  there "$1_bench" || return
  "$programs/$1_bench" > "$results/$1.ours" || status=1
  python3 "$here/$2" > "$results/$1.peer" 2> "$results/$1.log" || {
    tail -n 5 "$results/$1.log"
    status=1
  }
  python3 "$here/report.py" "$results" "$1" || status=1
}
timed attention peers.py
timed decode decode_peers.py
timed additive additive_peers.py
if there training_bench; then
  python3 "$here/training_peers.py" "$programs/training_bench" --json "$results/training.json" ||
    status=1
fi
python3 "$here/report.py" "$results" floors
exit $status
