#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/backward_rows.cuh"
#include "attn/kernels/gpu/dispatch.cuh"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/route.hpp"
#include "kernels/common_recipes.hpp"
#include "kernels/gpu/instances.cuh"
#include "kernels/gpu/lower.cuh"

namespace attn::gpu {

// The build's list of types and head sizes, sizes rising: ATTN_GPU_INSTANCE(BFloat16, 64) ...
#define ATTN_GPU_INSTANCE(Type, kDim)                                                     \
  template <>                                                                             \
  void run_forward<Type, kDim>(const ForwardArgs<Type>&, const Lowered&, const Chosen&,   \
                               Stream);                                                   \
  template <>                                                                             \
  void run_backward<Type, kDim>(const BackwardArgs<Type>&, const Lowered&, const Chosen&, \
                                void*, Stream, Determinism);
#include "attn_gpu_instances.inc"
#undef ATTN_GPU_INSTANCE

namespace {

/// run(std::integral_constant<int, size>{}) for the smallest built head size that fits.
template <class T, class Run>
void for_built_size(const char* where, std::int64_t channels, std::int64_t value_channels,
                    const Run& run) {
  const std::int64_t wanted = std::max(channels, value_channels);
  std::string built;
#define ATTN_GPU_INSTANCE(Type, kDim)                                    \
  if constexpr (std::is_same_v<T, Type>) {                               \
    if (wanted <= kDim) return run(std::integral_constant<int, kDim>{}); \
    built += (built.empty() ? "" : ", ") + std::to_string(kDim);         \
  }
#include "attn_gpu_instances.inc"
#undef ATTN_GPU_INSTANCE
  fail<Unsupported>(where, ": ", name_of(kDType<T>), " with ", channels, " channels and ",
                    value_channels, " value channels; this build has kernels for head sizes ",
                    built.empty() ? "of other types alone" : "up to " + built);
}

__global__ void clear_kernel(float* data, std::int64_t count, std::int64_t s1, std::int64_t s2,
                             std::int64_t s3, std::int64_t t0, std::int64_t t1, std::int64_t t2,
                             std::int64_t t3) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  data[i / s3 / s2 / s1 * t0 + i / s3 / s2 % s1 * t1 + i / s3 % s2 * t2 + i % s3 * t3] = 0.0f;
}

void clear(const TableGrad& grad, Stream stream) {
  const auto& [s0, s1, s2, s3] = grad.shape;
  const std::int64_t count = s0 * s1 * s2 * s3;
  if (grad.data == nullptr || count == 0) return;
  const DeviceTableGrad to(grad);
  check_grid("attn::gpu::backward", (count + 255) / 256);
  clear_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(
      to.data, count, s1, s2, s3, to.strides[0], to.strides[1], to.strides[2], to.strides[3]);
  ATTN_CUDA_CALL(cudaGetLastError());
}

bool wants_tables(const RecipeGrads& grads) {
  const auto wanted = [](const TableGrad& g) { return g.data != nullptr; };
  const auto any = [&](const auto& slots) {
    return std::any_of(slots.begin(), slots.end(), wanted);
  };
  return any(grads.normaliser) || std::any_of(grads.scores.begin(), grads.scores.end(), any) ||
         std::any_of(grads.factors.begin(), grads.factors.end(), any);
}

/// Which of the fused kernels runs the call.
template <class Args>
Chosen choose(const Args& args, const Recipe& recipe) {
  static constexpr Route kFused[] = {Route::gpu_hopper, Route::gpu_tiles, Route::gpu_general};
  Call call = call_of(args, recipe);
  call.on_gpu = true;
  call.capability = capability().version;
  const Chosen chosen{route(call, kFused), find(recipe, CommonRecipes{})};
  note_route(chosen.route);
  return chosen;
}

}  // namespace

template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::forward";
  check_supported(args);
  validate(args, checkable(recipe));
  const Lowered lowered = lower(kWhere, recipe);
  const Chosen chosen = choose(args, recipe);
  for_built_size<T>(kWhere, args.q.shape[3], args.v.shape[3], [&](auto dim) {
    run_forward<T, decltype(dim)::value>(args, lowered, chosen, stream);
  });
}

template <class T>
std::size_t backward_workspace(const BackwardArgs<T>& args) {
  std::size_t bytes = 0;
  for_built_size<T>(
      "attn::gpu::backward_workspace", args.q.shape[3], args.v.shape[3],
      [&](auto dim) { bytes = backward_workspace_bytes(args, decltype(dim)::value); });
  return bytes;
}

template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads,
              void* workspace, Stream stream, Determinism determinism) {
  constexpr const char* kWhere = "attn::gpu::backward";
  check_supported(args);
  validate(args, checkable(recipe), grads);
  if (determinism == Determinism::repeatable && wants_tables(grads))
    fail<Unsupported>(kWhere, ": gradients of tables are not repeatable on the GPU");
  const Lowered lowered = lower(kWhere, recipe, grads);
  if (workspace == nullptr && backward_workspace(args) > 0)
    fail(kWhere, ": no workspace; backward_workspace() says how many bytes it takes");
  for (const auto& stage : grads.scores)
    for (const TableGrad& grad : stage) clear(grad, stream);
  for (const TableGrad& grad : grads.normaliser) clear(grad, stream);
  for (const auto& stage : grads.factors)
    for (const TableGrad& grad : stage) clear(grad, stream);
  const Chosen chosen = choose(args, recipe);
  for_built_size<T>(kWhere, args.q.shape[3], args.v.shape[3], [&](auto dim) {
    run_backward<T, decltype(dim)::value>(args, lowered, chosen, workspace, stream,
                                          determinism);
  });
}

// clang-format off
template void forward(const ForwardArgs<float>&, const Recipe&, Stream);
template void forward(const ForwardArgs<BFloat16>&, const Recipe&, Stream);
template void forward(const ForwardArgs<Float16>&, const Recipe&, Stream);
template std::size_t backward_workspace(const BackwardArgs<float>&);
template std::size_t backward_workspace(const BackwardArgs<BFloat16>&);
template std::size_t backward_workspace(const BackwardArgs<Float16>&);
template void backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
template void backward(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
template void backward(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&, void*, Stream, Determinism);
// clang-format on

}  // namespace attn::gpu
