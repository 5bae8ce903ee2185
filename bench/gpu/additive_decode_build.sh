#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the tests and benches of decoding and additive attention with nvcc alone:
# bench/gpu/additive_decode_build.sh <folder with libattn_kernels.a> [output folder]
set -eu
libraries=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
out=${2:-build/gpu2}
mkdir -p "$out"
flags="-std=c++20 -O3 -use_fast_math --expt-relaxed-constexpr -diag-suppress 554,68 -cudart static \
  -gencode arch=compute_90,code=sm_90 -Iinclude -Isrc -Itests -Ibench"
objects=""
for source in decode_bf16 decode_f16 decode_f32 additive lower; do
  nvcc $flags -c "src/kernels/gpu/$source.cu" -o "$out/$source.o"
  objects="$objects $out/$source.o"
done
for name in decode additive; do
  nvcc $flags -o "$out/${name}_test" "tests/gpu/${name}_test.cu" $objects \
    "$libraries/libattn_kernels.a" "$libraries/libattn_core.a" -lgtest_main -lgtest -lpthread
  nvcc $flags -o "$out/${name}_bench" "bench/gpu/$name.cu"
  strip "$out/${name}_test" "$out/${name}_bench"
done
