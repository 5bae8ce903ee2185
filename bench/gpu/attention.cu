// attention_bench: TFLOP/s of attention on the GPU, one line of JSON a row; times are medians
// of CUDA events. bench/gpu/peers.py times the same rows elsewhere, bench/gpu/all.sh compares.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/route.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/gaussian.hpp"
#include "attn/score/relative_table.hpp"
#include "attn/score/soft_cap.hpp"

namespace attn::bench {
namespace {

/// A buffer of the GPU, for as long as the program lives.
template <class T>
T* allocate(std::int64_t count) {
  void* data = nullptr;
  ATTN_CUDA_CALL(cudaMalloc(&data, static_cast<std::size_t>(count) * sizeof(T)));
  return static_cast<T*>(data);
}

/// About normal numbers: the sum of four uniform ones, of a place and a seed.
template <class T>
__global__ void fill_kernel(T* data, std::int64_t count, std::uint32_t seed) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  std::uint32_t state = static_cast<std::uint32_t>(i) * 2654435761u + seed;
  float sum = 0.0f;
  for (int n = 0; n < 4; ++n) {
    state ^= state >> 16;
    state *= 0x7feb352du;
    state ^= state >> 15;
    state *= 0x846ca68bu;
    state ^= state >> 16;
    sum += static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
  }
  data[i] = T(1.732f * sum);
}

template <class T>
T* random_numbers(std::int64_t count, std::uint32_t seed) {
  T* data = allocate<T>(count);
  fill_kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(data, count, seed);
  ATTN_CUDA_CALL(cudaGetLastError());
  return data;
}
float* upload(const std::vector<float>& list) {
  float* data = allocate<float>(static_cast<std::int64_t>(list.size()));
  ATTN_CUDA_CALL(
      cudaMemcpy(data, list.data(), list.size() * sizeof(float), cudaMemcpyHostToDevice));
  return data;
}

/// The median time of a call, in milliseconds.
template <class Call>
double median_time(const Call& call) {
  constexpr int kWarmUp = 3;
  constexpr int kRepetitions = 25;
  for (int i = 0; i < kWarmUp; ++i) call();
  std::vector<cudaEvent_t> begin(kRepetitions), end(kRepetitions);
  for (int i = 0; i < kRepetitions; ++i) {
    ATTN_CUDA_CALL(cudaEventCreate(&begin[i]));
    ATTN_CUDA_CALL(cudaEventCreate(&end[i]));
    ATTN_CUDA_CALL(cudaEventRecord(begin[i]));
    call();
    ATTN_CUDA_CALL(cudaEventRecord(end[i]));
  }
  ATTN_CUDA_CALL(cudaDeviceSynchronize());
  std::vector<float> times(kRepetitions);
  for (int i = 0; i < kRepetitions; ++i) {
    ATTN_CUDA_CALL(cudaEventElapsedTime(&times[i], begin[i], end[i]));
    cudaEventDestroy(begin[i]);
    cudaEventDestroy(end[i]);
  }
  std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
  return static_cast<double>(times[kRepetitions / 2]);
}

struct Shape {
  int batch, heads, length, channels;
};

/// What a row of the table does, and the share of the dense work that its mask leaves.
struct Variant {
  std::string name;
  double share = 1.0;
};

template <class T>
void measure(const char* type, const Shape& shape, const Variant& variant) {
  const auto [b, h, n, d] = shape;
  const std::int64_t size = std::int64_t{b} * h * n * d;
  const std::int64_t rows = std::int64_t{b} * h * n;
  static std::int64_t reserved = 0;
  static T *q, *k, *v, *out, *d_out, *dq, *dk, *dv;
  static float* stat;
  static float* centres;
  if (size > reserved) {
    reserved = size;
    q = random_numbers<T>(size, 1);
    k = random_numbers<T>(size, 2);
    v = random_numbers<T>(size, 3);
    d_out = random_numbers<T>(size, 4);
    out = allocate<T>(size);
    dq = allocate<T>(size);
    dk = allocate<T>(size);
    dv = allocate<T>(size);
    stat = allocate<float>(size / 32);
    std::vector<float> middle(static_cast<std::size_t>(size / 32));
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = static_cast<float>(i % 4096);
    centres = upload(middle);
  }
  Recipe recipe;
  recipe.scale = 1.0f / std::sqrt(static_cast<float>(d));
  if (variant.name == "causal")
    recipe.masks = {MaskTree::of(mask_stage(mask::Causal::top_left()))};
  if (variant.name == "window 512")
    recipe.masks = {MaskTree::of(mask_stage(mask::SlidingWindow{512, 0, 0}))};
  if (variant.name == "causal lengths" || variant.name == "general") {
    static int* lengths = nullptr;
    if (lengths == nullptr) {
      const std::vector<int> whole(64, 1 << 20);
      lengths = allocate<int>(64);
      ATTN_CUDA_CALL(
          cudaMemcpy(lengths, whole.data(), 64 * sizeof(int), cudaMemcpyHostToDevice));
    }
    recipe.masks = {MaskTree::of(mask_stage(mask::Causal::top_left())),
                    MaskTree::of(mask_stage(mask::Lengths{lengths}))};
    // Two caps are in no list of kernels: what the one that serves everything costs.
    if (variant.name == "general")
      recipe.scores = {score_stage(score::SoftCap{30.0f}), score_stage(score::SoftCap{40.0f})};
  }
  if (variant.name == "soft cap") recipe.scores = {score_stage(score::SoftCap{30.0f})};
  if (variant.name == "gaussian")
    recipe.scores = {score_stage(score::Gaussian{256.0f}, {table(centres, {b, h, n, 1})})};
  if (variant.name == "relative") {
    static float* entries = upload(std::vector<float>(64 * 8191, 0.1f));
    recipe.scores = {
        score_stage(score::RelativeTable{n - 1, 0}, {table(entries, {1, h, 1, 2 * n - 1})})};
  }
  if (variant.name == "alibi") {
    std::vector<float> slopes(static_cast<std::size_t>(h));
    score::fill_alibi_slopes(slopes.data(), h);
    recipe.scores = {score_stage(score::Alibi{}, {table(upload(slopes), {1, h, 1, 1})})};
    recipe.masks = {MaskTree::of(mask_stage(mask::Causal::top_left()))};
  }

  const auto view = [&](auto* data) {
    return packed<std::remove_pointer_t<decltype(data)>>(data, b, h, n, d);
  };
  const ForwardArgs<T> forward{.q = view(q),
                               .k = view(k),
                               .v = view(v),
                               .out = view(out),
                               .stat = packed<float>(stat, b, h, n)};
  const BackwardArgs<T> backward{.q = forward.q,
                                 .k = forward.k,
                                 .v = forward.v,
                                 .out = forward.out,
                                 .stat = forward.stat,
                                 .d_out = view(d_out),
                                 .dq = view(dq),
                                 .dk = view(dk),
                                 .dv = view(dv)};
  const double flop = 4.0 * static_cast<double>(rows) * n * d * variant.share;
  const double forward_ms = median_time([&] { gpu::forward(forward, recipe); });
  const std::string forward_route(name_of(*last_route()));
  void* workspace = nullptr;
  ATTN_CUDA_CALL(cudaMalloc(&workspace, gpu::backward_workspace(backward)));
  const double backward_ms =
      median_time([&] { gpu::backward(backward, recipe, {}, workspace); });
  ATTN_CUDA_CALL(cudaFree(workspace));
  std::printf(
      "{\"who\": \"attn\", \"type\": \"%s\", \"row\": \"%s\", \"b\": %d, \"h\": %d, \"n\": %d, "
      "\"d\": %d, \"forward_ms\": %.4f, \"backward_ms\": %.4f, \"forward_tflops\": %.1f, "
      "\"backward_tflops\": %.1f, \"route\": \"%s\", \"backward_route\": \"%s\"}\n",
      type, variant.name.c_str(), b, h, n, d, forward_ms, backward_ms, flop / forward_ms * 1e-9,
      2.5 * flop / backward_ms * 1e-9, forward_route.c_str(),
      std::string(name_of(*last_route())).c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace attn::bench

int main() {
  using namespace attn;
  using namespace attn::bench;
  if (!gpu::available()) {
    std::fprintf(stderr, "attention_bench: no GPU: %s\n", gpu::describe().c_str());
    return 1;
  }
  std::fprintf(stderr, "%s\n", gpu::describe().c_str());
  try {
    const Shape large{4, 16, 4096, 128};
    for (const Shape& shape : {large, Shape{1, 16, 16384, 128}, Shape{4, 32, 4096, 64}})
      for (const Variant& variant : {Variant{"full"}, Variant{"causal", 0.5}})
        measure<BFloat16>("bf16", shape, variant);
    measure<BFloat16>("bf16", {16, 16, 1024, 128}, {"full"});
    const double window = (512.0 * 4096 - 512.0 * 512 / 2) / (4096.0 * 4096);
    for (const Variant& variant :
         {Variant{"soft cap"}, Variant{"gaussian"}, Variant{"relative"}, Variant{"alibi", 0.5},
          Variant{"window 512", window}, Variant{"causal lengths", 0.5},
          Variant{"general", 0.5}})
      measure<BFloat16>("bf16", large, variant);
    measure<float>("f32", {1, 16, 4096, 128}, {"full"});
    measure<float>("f32", {1, 16, 4096, 64}, {"full"});
  } catch (const Error& error) {
    std::fprintf(stderr, "attention_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
