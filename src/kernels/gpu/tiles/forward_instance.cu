// Forward for one element type and head size: ATTN_GPU_TYPE and ATTN_GPU_DIM.
// ATTN_GPU_COMMON: whether common recipes get kernels of their own.

#include <type_traits>

#include "attn/kernels/gpu/functor/forward.cuh"
#include "kernels/gpu/hopper/forward.cuh"
#include "kernels/gpu/hopper/tiles.cuh"
#include "kernels/gpu/tiles/instances.cuh"

namespace attn::gpu {

template <>
void run_forward<ATTN_GPU_TYPE, ATTN_GPU_DIM>(const ForwardArgs<ATTN_GPU_TYPE>& args,
                                              const Lowered& recipe, const Chosen& chosen,
                                              Stream stream) {
  if constexpr (ATTN_GPU_COMMON && has_common_recipes(sizeof(ATTN_GPU_TYPE), ATTN_GPU_DIM)) {
    if (chosen.route != Route::gpu_general) {
      run_common(recipe, CommonRecipes{}, chosen.common, [&](const auto& stages, const auto&) {
        using St = std::remove_cvref_t<decltype(stages)>;
        if constexpr (hopper::kForwardBuilt<ATTN_GPU_TYPE, ATTN_GPU_DIM, St>) {
          if (chosen.route == Route::gpu_hopper)
            return hopper::launch_forward<ATTN_GPU_DIM>(args, stages, stream);
        }
        launch_forward<ATTN_GPU_DIM>(args, stages, stream);
      });
      return;
    }
  }
  launch_forward<ATTN_GPU_DIM>(args, recipe.stages, stream);
}

}  // namespace attn::gpu
