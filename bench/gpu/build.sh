#!/bin/sh
# Builds the GPU's attention kernels, their test and their bench with nvcc alone, for a machine
# that has neither CMake nor this compiler: bench/gpu/build.sh <folder with libattn_kernels.a>
# [output folder] [list]. The list is "quick" (bf16 and float, head sizes 64 and 128), "some" (256
# too) or "all".
# Files that are newer than what they need are left alone.
set -eu
libraries=$1
out=${2:-build/gpu}
list=${3:-quick}
cd "$(dirname "$0")/../.."
mkdir -p "$out"

flags="-std=c++20 -O3 -use_fast_math --expt-relaxed-constexpr -diag-suppress 554,68 -compress-mode=size \
  -gencode arch=compute_90a,code=sm_90a -DATTN_GPU_HOPPER=1 -Iinclude -Isrc -Itests -I$out"
types="BFloat16 float"
sizes="64 128"
if [ "$list" = some ]; then sizes="64 128 256"; fi
if [ "$list" = all ]; then
  types="BFloat16 Float16 float"
  sizes="32 64 96 128 192 256"
fi

# Whether an object is newer than its source and every header that it may include.
fresh() {
  [ -e "$1" ] && [ "$1" -nt "$2" ] && [ -z "$(find include/attn/core include/attn/kernels \
    include/attn/score include/attn/mask include/attn/normalise src/kernels/gpu \
    \( -name '*.cuh' -o -name '*.hpp' \) ! -name 'decode*' ! -name 'additive*' -newer "$1")" ]
}
compile() {  # compile <object> <source> [flags]
  to=$1; from=$2; shift 2
  if fresh "$to" "$from"; then return; fi
  echo "$to"
  nvcc $flags "$@" -c "$from" -o "$to"
}

inc="$out/attn_gpu_instances.inc"
objects=""
for type in $types; do for size in $sizes; do echo "ATTN_GPU_INSTANCE($type, $size)"; done; done \
  > "$inc.new"
cmp -s "$inc.new" "$inc" || cp "$inc.new" "$inc"
for type in $types; do
  for size in $sizes; do
    for pass in forward backward; do
      object="$out/${pass}_${type}_$size.o"
      compile "$object" "src/kernels/gpu/${pass}_instance.cu" \
        -DATTN_GPU_TYPE=$type -DATTN_GPU_DIM=$size -DATTN_GPU_COMMON=true
      objects="$objects $object"
    done
  done
done
for source in attention lower device plain/rows; do
  object="$out/$(basename $source).o"
  compile "$object" "src/kernels/gpu/$source.cu"
  objects="$objects $object"
done
support="problem build_recipe draw_spec property run"
for name in $support; do
  object="$out/support_$name.o"
  [ -e "$object" ] && [ "$object" -nt "tests/kernels/support/$name.cpp" ] ||
    g++ -std=c++20 -O2 -Iinclude -Isrc -Itests -c "tests/kernels/support/$name.cpp" -o "$object"
done
compile "$out/run_gpu.o" tests/gpu/run_gpu.cu
compile "$out/attention_test.o" tests/gpu/attention_test.cu
compile "$out/attention_bench.o" bench/gpu/attention.cu
# The definition is compiled here, so that it is that of these sources.
for source in args recipe clear_grads reference/attention; do
  object="$out/cpu_$(basename $source)_$(dirname $source | tr -d .).o"
  [ -e "$object" ] && [ "$object" -nt "src/kernels/$source.cpp" ] ||
    g++ -std=c++20 -O3 -Iinclude -Isrc -c "src/kernels/$source.cpp" -o "$object"
  objects="$objects $object"
done
link="g++ -Wl,--allow-multiple-definition -L$(dirname "$(command -v nvcc)")/../lib64"
libs="$libraries/libattn_kernels.a $libraries/libattn_core.a -lcudart_static -ldl -lrt -lpthread"
tests="$out/attention_test.o $out/run_gpu.o"
for name in $support; do tests="$tests $out/support_$name.o"; done
$link -o "$out/attention_test" $tests $objects $libs -lgtest_main -lgtest -lpthread
$link -o "$out/attention_bench" "$out/attention_bench.o" $objects $libs
strip "$out/attention_test" "$out/attention_bench"
ls -l "$out/attention_test" "$out/attention_bench"
