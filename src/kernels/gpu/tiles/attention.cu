#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/functor/backward_rows.cuh"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/route.hpp"
#include "kernels/common_recipes.hpp"
#include "kernels/gpu/general/lower.cuh"
#include "kernels/gpu/tiles/instances.cuh"

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
  if (determinism == Determinism::repeatable && grads.wants_any())
    fail<Unsupported>(kWhere, ": gradients of tables are not repeatable on the GPU");
  const Lowered lowered = lower(kWhere, recipe, grads);
  if (workspace == nullptr && backward_workspace(args) > 0)
    fail(kWhere, ": no workspace; backward_workspace() says how many bytes it takes");
  clear_tables(grads, stream);
  const Chosen chosen = choose(args, recipe);
  for_built_size<T>(kWhere, args.q.shape[3], args.v.shape[3], [&](auto dim) {
    run_backward<T, decltype(dim)::value>(args, lowered, chosen, workspace, stream,
                                          determinism);
  });
}

#include "kernels/gpu/tiles/instances.inc"

}  // namespace attn::gpu
