/// Decoding for recipes chosen at run time: the common ones have kernels of their own.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>

#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/functor/decode.cuh"
#include "attn/kernels/route.hpp"
#include "kernels/common_recipes.hpp"
#include "kernels/gpu/general/general.cuh"
#include "kernels/gpu/general/lower.cuh"
#include "kernels/gpu/tiles/instances.cuh"

namespace attn::gpu {

template <class T>
std::size_t decode_workspace_size(const ForwardArgs<T>& args) {
  return decode_workspace_bytes(args);
}

template <class T>
void decode(const ForwardArgs<T>& args, const Recipe& recipe, void* workspace, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::decode";
  check_decode(args);
  // What pages and lengths hold is on the device and cannot be asked.
  if (args.paging.table == nullptr) validate(args, checkable(recipe));
  const Lowered lowered = lower(kWhere, recipe);
  const auto& chosen = lowered.stages.normaliser.chosen;
  if (!chosen.holds<normalise::Softmax>() && !chosen.holds<normalise::SoftmaxSink>())
    fail<Unsupported>(kWhere,
                      ": parts of the keys are merged for softmax, with a sink or "
                      "without; the recipe has another normaliser");
  if (lowered.stages.factor.count != 0)
    fail<Unsupported>(kWhere, ": weight modifiers are not built; attn::gpu::forward has them");
  note_route(Route::gpu_decode);
  const auto run = [&](const auto& stages, const auto&) {
    decode(args, stages, workspace, stream);
  };
  if (run_common(lowered, DecodeRecipes{}, find(recipe, DecodeRecipes{}), run)) return;
  auto general = without_factors<GeneralNormaliser>(lowered);
  general.normaliser = lowered.stages.normaliser;
  std::copy_n(lowered.stages.normaliser_tables.data, GeneralNormaliser::kTables,
              general.normaliser_tables.data);
  decode(args, general, workspace, stream);
}

}  // namespace attn::gpu
