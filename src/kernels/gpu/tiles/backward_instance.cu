// Backward for one element type and head size: ATTN_GPU_TYPE and ATTN_GPU_DIM.
// ATTN_GPU_COMMON: whether common recipes get kernels of their own.

#include <type_traits>

#include "attn/kernels/gpu/functor/backward.cuh"
#include "kernels/gpu/hopper/backward.cuh"
#include "kernels/gpu/hopper/tiles.cuh"
#include "kernels/gpu/tiles/instances.cuh"

namespace attn::gpu {

template <>
void run_backward<ATTN_GPU_TYPE, ATTN_GPU_DIM>(const BackwardArgs<ATTN_GPU_TYPE>& args,
                                               const Lowered& recipe, const Chosen& chosen,
                                               void* workspace, Stream stream,
                                               Determinism determinism) {
  if constexpr (ATTN_GPU_COMMON && has_common_recipes(sizeof(ATTN_GPU_TYPE), ATTN_GPU_DIM)) {
    if (chosen.route != Route::gpu_general) {
      const auto run = [&](const auto& stages, const auto& grads) {
        using St = std::remove_cvref_t<decltype(stages)>;
        if constexpr (hopper::kBackwardBuilt<ATTN_GPU_TYPE, ATTN_GPU_DIM, St>) {
          if (chosen.route == Route::gpu_hopper)
            return hopper::launch_backward<ATTN_GPU_DIM>(args, stages, grads, workspace, stream,
                                                         determinism);
        }
        launch_backward<ATTN_GPU_DIM>(args, stages, grads, workspace, stream, determinism);
      };
      run_common(recipe, CommonRecipes{}, chosen.common, run);
      return;
    }
  }
  launch_backward<ATTN_GPU_DIM>(args, recipe.stages, recipe.grads, workspace, stream,
                                determinism);
}

}  // namespace attn::gpu
