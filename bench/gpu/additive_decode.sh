#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rows G5 (decode) and G6 (additive) on a machine with a GPU and PyTorch: runs the tests, then
# both programs and their peers, and prints the ratios.
# bench/gpu/additive_decode.sh [folder of the programs]
set -eu
cd "$(dirname "$0")/../.."
programs=${1:-build/cuda/bin}
results=$(mktemp -d)
trap 'rm -r "$results"' EXIT

"$programs/decode_test" --gtest_brief=1
"$programs/additive_test" --gtest_brief=1
for row in decode additive; do
  "$programs/${row}_bench" > "$results/ours"
  python3 "bench/gpu/${row}_peers.py" > "$results/peer"
  [ $row = decode ] && echo "G5, times the speed of cuDNN" || echo "G6, times the speed of torch.compile"
  awk -F '\t' 'NR == FNR { peer[$1] = $2; note[$1] = $3; next }
    { printf "  %-42s %8s ms  %s; peer %s ms (%s): %s\n", $1, $2, $3, peer[$1], note[$1],
      (peer[$1] + 0 > 0 ? sprintf("%.2fx", peer[$1] / $2) : "no peer") }' \
    "$results/peer" "$results/ours"
done
