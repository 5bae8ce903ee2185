/// From specs to a recipe that owns what it points to.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <vector>

#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/spec/normaliser.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

/// Whose table it is: which stage of the recipe, and which slot of the stage.
struct TablePlace {
  enum class Owner { similarity, score, normaliser, factor };
  Owner owner = Owner::similarity;
  std::size_t stage = 0;
  std::size_t slot = 0;
};

/// A recipe whose tables and masks stay where they are, from forward to backward.
class BoundRecipe {
 public:
  /// `tables` gets the recipe's tables, on the tape, in the order of their places.
  BoundRecipe(const spec::Score& score, const spec::Mask& keep,
              const spec::Normaliser& normaliser, const spec::Problem& problem,
              std::vector<Tensor>& tables);

  /// Throws if somebody wrote to what the recipe reads.
  const Recipe& recipe() const;
  /// Where gradients of tables go: one tensor a table, not defined where none is wanted.
  RecipeGrads grads_into(const std::vector<Tensor>& grads) const;

 private:
  void bind_similarity(const spec::Score& score, const spec::Problem& problem,
                       std::vector<Tensor>& tables);
  template <class Any>
  void bind(const spec::Lowered<Any>& lowered, StageData& data, TablePlace place,
            std::vector<Tensor>& tables);
  Table add(const Tensor& table, const TablePlace& place, std::vector<Tensor>& tables);
  template <class Any>
  void hold(const spec::Lowered<Any>& lowered);

  Recipe recipe_;
  std::vector<TablePlace> places_;
  std::vector<Saved> tables_;
  std::vector<Saved> reads_;
  std::vector<std::shared_ptr<const void>> owns_;
};

}  // namespace attn::op
