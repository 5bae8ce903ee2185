#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first hundred steps of every task on the CPU and, in f32, on the GPU: their losses, the mean
# of ten steps a line of each log, differ by at most a thousandth.
#     bench/gpu/same_losses.sh <program attn> <folder for the trainings> [folder of pairs]
# A folder of pairs holds TASK.tsv for tasks that learn from it instead of their own data.
set -eu
attn=$1
out=$2
pairs=${3:-}
mkdir -p "$out"

losses() { sed -n 's/.*"loss":\([0-9.e+-]*\),.*/\1/p' "$1/log.jsonl"; }

trained() {  # trained <task> <device>
  folder=$out/$1-$2
  rm -rf "$folder"
  set -- "$1" --out "$folder" --device "$2" --steps 100 --evaluate-on 8 --evaluate-every 100
  if [ -n "$pairs" ] && [ -e "$pairs/$1.tsv" ]; then set -- "$@" --data "$pairs/$1.tsv"; fi
  "$attn" train "$@" > "$folder.log" 2>&1 || { tail -n 5 "$folder.log"; return 1; }
}

status=0
for task in pronounce translate summarise caption; do
  trained $task cpu && trained $task gpu || { status=1; continue; }
  losses "$out/$task-cpu" > "$out/$task.cpu"
  losses "$out/$task-gpu" > "$out/$task.gpu"
  paste "$out/$task.cpu" "$out/$task.gpu" | awk -v task=$task '
    { apart = ($1 > $2 ? $1 - $2 : $2 - $1) / $1; if (apart > most) most = apart; last = $1 }
    END { right = NR == 10 && most <= 1e-3
          printf "  %s: %d means of ten steps, at most %.1e apart (the last is %.3f)%s\n",
                 task, NR, most, last, right ? "" : ": WRONG"
          exit !right }' || status=1
done
exit $status
