// Splits floats into a high and a low part, so that TF32 products keep a float's precision.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/error.hpp"
#include "gemm/gpu/parts.hpp"

namespace attn::gemm {
namespace {

constexpr int kThreads = 256;

/// Rows and columns as they lie, and where the depth of the product runs.
struct Operand {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t lead;
  bool depth_in_columns;
};

/// Which of the three parts are the low ones.
enum class Low { first, second };

/// The depth of `to` holds three parts one after the other; its rows are packed.
__global__ void part_kernel(Operand x, Low low_part, const float* from, float* to) {
  const std::int64_t count = x.rows * x.columns;
  const std::int64_t grid = static_cast<std::int64_t>(gridDim.x) * kThreads;
  const auto columns = static_cast<std::uint32_t>(x.columns);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += grid) {
    const std::int64_t row = static_cast<std::uint32_t>(i) / columns;
    const std::int64_t column = static_cast<std::uint32_t>(i) % columns;
    const float number = from[row * x.lead + column];
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(number));
    // What the conversion leaves below TF32's bits is not said.
    const float high = __uint_as_float(bits & 0xffffe000u);
    const float low = isfinite(high) ? number - high : 0.0f;
    const std::int64_t step = x.depth_in_columns ? x.columns : count;
    float* place = to + (x.depth_in_columns ? row * 3 * x.columns + column : i);
    place[0] = low_part == Low::first ? low : high;
    place[step] = low_part == Low::second ? low : high;
    place[2 * step] = high;
  }
}

void part(const Operand& x, Low low, const float* from, float* to, cudaStream_t stream) {
  const std::int64_t count = x.rows * x.columns;
  const std::int64_t blocks =
      std::min<std::int64_t>((count + kThreads - 1) / kThreads, 1 << 16);
  part_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(x, low, from, to);
}

}  // namespace

bool parts_pay(const Args<float>& args) {
  // On an H200 floats multiply at some 50 TFLOP/s and parts at 350 / 3; parting moves 16 bytes
  // a number at 3.5 TB/s, after two launches.
  constexpr double kSaved = 2.0 / 50e12 - 2.0 * 3.0 / 350e12;
  constexpr double kMoved = 16.0 / 3.5e12;
  constexpr double kLaunches = 8e-6;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  // cuBLASLt's kernels for TF32 read rows that begin at 16 bytes.
  const auto even = [](std::int64_t number) { return number % 4 == 0; };
  return args.batch == 1 && even(args.m) && even(args.n) && even(args.k) && even(args.ldc) &&
         m * k < INT32_MAX && n * k < INT32_MAX &&
         m * n * k * kSaved > 1.5 * ((m + n) * k * kMoved + kLaunches);
}

Parted::Parted(const Args<float>& args, CUstream_st* stream) : args_(args), stream_(stream) {
  const Operand a = args.transpose_a == Transpose::no
                        ? Operand{args.m, args.k, args.lda, true}
                        : Operand{args.k, args.m, args.lda, false};
  const Operand b = args.transpose_b == Transpose::no ? Operand{args.k, args.n, args.ldb, false}
                                                      : Operand{args.n, args.k, args.ldb, true};
  const std::int64_t a_numbers = 3 * a.rows * a.columns;
  const std::int64_t b_numbers = 3 * b.rows * b.columns;
  const auto bytes = static_cast<std::size_t>(a_numbers + b_numbers) * sizeof(float);
  if (cudaMallocAsync(&memory_, bytes, stream) != cudaSuccess)
    fail<Error>("attn::gemm::product_on_gpu: no ", bytes, " bytes of the GPU's memory for a ",
                args.m, " x ", args.n, " x ", args.k, " product of floats");
  auto* parts = static_cast<float*>(memory_);
  part(a, Low::first, args.a, parts, stream);
  part(b, Low::second, args.b, parts + a_numbers, stream);
  args_.a = parts;
  args_.lda = a.depth_in_columns ? 3 * a.columns : a.columns;
  args_.b = parts + a_numbers;
  args_.ldb = b.depth_in_columns ? 3 * b.columns : b.columns;
  args_.k = 3 * args.k;
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    fail<Error>("attn::gemm::product_on_gpu: ", cudaGetErrorString(status));
}

Parted::~Parted() {
  if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
}

}  // namespace attn::gemm
