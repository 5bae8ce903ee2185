// Forward for one element type and head size: ATTN_GPU_TYPE and ATTN_GPU_DIM.
// ATTN_GPU_COMMON: whether common recipes get kernels of their own.

#include "attn/kernels/gpu/forward.cuh"
#include "kernels/gpu/instances.cuh"

namespace attn::gpu {

template <>
void run_forward<ATTN_GPU_TYPE, ATTN_GPU_DIM>(const ForwardArgs<ATTN_GPU_TYPE>& args,
                                              const Lowered& recipe, Stream stream) {
  if constexpr (ATTN_GPU_COMMON && kHasCommonRecipes<ATTN_GPU_TYPE, ATTN_GPU_DIM>) {
    const auto run = [&](const auto& stages, const auto&) {
      launch_forward<ATTN_GPU_DIM>(args, stages, stream);
    };
    if (run_common(recipe, CommonRecipes{}, run)) return;
  }
  launch_forward<ATTN_GPU_DIM>(args, recipe.stages, stream);
}

}  // namespace attn::gpu
