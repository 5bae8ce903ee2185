/// Specs of a user's own functors, with tensors as tables. The functors' kernels are compiled
/// by attn_kernel_sources() (attn/kernels/erase.hpp); the reference, which serves f64, needs
/// nothing.
///
///     dot() | functor(Fade{}, {rate})
///     dot() | functor([](const Problem& p) { return Near{p.offset({})}; })

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <utility>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/spec/normaliser.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::spec {

/// The functor, or what a function makes it from the sizes of the call.
template <class F>
auto functor_for(const F& f, const Problem& problem) {
  if constexpr (std::invocable<const F&, const Problem&>) {
    return f(problem);
  } else {
    return f;
  }
}

/// Entry tables (spec/stage.hpp) for slots 0, 1, ...
inline std::vector<Tensor> entry_tables(const std::vector<Tensor>& tensors,
                                        const Problem& problem, const char* where) {
  std::vector<Tensor> tables;
  tables.reserve(tensors.size());
  for (const Tensor& x : tensors) tables.push_back(entry_table(x, problem, where));
  return tables;
}

/// A score modifier that reads tensors through p.value(slot), p.at(slot, entry) and
/// p.along(slot, at); they are entry tables, and get their gradients.
template <class F>
ScoreModifier functor(F f, std::vector<Tensor> tensors = {}) {
  return {[f, tensors = std::move(tensors)](const Problem& problem) {
    return Lowered<AnyScore>{score_stage(functor_for(f, problem)),
                             entry_tables(tensors, problem, "attn::spec::functor")};
  }};
}

/// A weight modifier.
template <class F>
WeightModifier weight_functor(F f, std::vector<Tensor> tensors = {}) {
  return {[f, tensors = std::move(tensors)](const Problem& problem) {
    return Lowered<AnyWeight>{weight_stage(functor_for(f, problem)),
                              entry_tables(tensors, problem, "attn::spec::weight_functor")};
  }};
}

/// A mask. `reads` are tensors it points into; they are kept, and get no gradient.
template <class M>
Mask mask_functor(M mask, std::vector<Tensor> reads = {}) {
  return Mask({[mask, reads = std::move(reads)](const Problem& problem) {
    return Lowered<AnyMask>{mask_stage(functor_for(mask, problem)), {}, reads};
  }});
}

/// A normaliser.
template <class N>
Normaliser normaliser_functor(N normaliser, std::vector<Tensor> tensors = {}) {
  return {{[normaliser, tensors = std::move(tensors)](const Problem& problem) {
            return Lowered<AnyNormaliser>{
                normaliser_stage(functor_for(normaliser, problem)),
                entry_tables(tensors, problem, "attn::spec::normaliser_functor")};
          }},
          {},
          false};
}

}  // namespace attn::spec
