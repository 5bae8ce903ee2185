/// The recipes that have GPU kernels of their own, and how a recipe is found among them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <initializer_list>

#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/recipe.hpp"

namespace attn {

/// Score modifiers, masks of which all must keep a pair, weight modifiers; with a scale and
/// softmax.
template <class Scores, class Masks, class Weights = catalogue::List<>>
struct Combination {};
template <class... Entries>
struct Combinations {};

template <class... Fs>
using Few = catalogue::List<Fs...>;

using CommonRecipes = Combinations<
    Combination<Few<>, Few<>>, Combination<Few<>, Few<mask::Causal>>,
    Combination<Few<>, Few<mask::SlidingWindow>>, Combination<Few<>, Few<mask::Lengths>>,
    Combination<Few<>, Few<mask::Causal, mask::Lengths>>,
    Combination<Few<score::SoftCap>, Few<>>,
    Combination<Few<score::SoftCap>, Few<mask::Causal>>, Combination<Few<score::Alibi>, Few<>>,
    Combination<Few<score::Alibi>, Few<mask::Causal>>,
    Combination<Few<score::RelativeTable>, Few<>>,
    Combination<Few<score::RelativeTable>, Few<mask::Causal>>,
    Combination<Few<score::Gaussian>, Few<>>,
    Combination<Few<>, Few<mask::Causal>, Few<normalise::Dropout>>,
    Combination<Few<>, Few<mask::Lengths>, Few<normalise::Dropout>>>;
using DecodeRecipes =
    Combinations<Combination<Few<>, Few<>>, Combination<Few<>, Few<mask::Causal>>,
                 Combination<Few<>, Few<mask::Lengths>>,
                 Combination<Few<>, Few<mask::SlidingWindow>>>;
using AdditiveRecipes =
    Combinations<Combination<Few<>, Few<>>, Combination<Few<>, Few<mask::Causal>>,
                 Combination<Few<>, Few<mask::Lengths>>>;

/// The kinds of a recipe's stages. Constant scales before anything else belong to the scale,
/// and masks that keep everything say nothing.
class RecipeKinds {
 public:
  explicit RecipeKinds(const Recipe& recipe);

  template <class... Ss, class... Ms, class... Ws>
  bool are(Combination<Few<Ss...>, Few<Ms...>, Few<Ws...>>) const {
    return softmax_ && scores_.equals({catalogue::kKind<Ss, catalogue::Scores>...}) &&
           masks_.equals_in_any_order({catalogue::kKind<Ms, catalogue::Masks>...}) &&
           weights_.equals({catalogue::kKind<Ws, catalogue::Weights>...});
  }

 private:
  /// At most two; more, or what has no kind, is no combination.
  struct Kinds {
    std::array<int, 2> kinds{-1, -1};
    int count = 0;

    void add(int kind) {
      if (count < 2) kinds[static_cast<std::size_t>(count)] = kind;
      ++count;
    }
    bool equals(std::initializer_list<int> other) const;
    bool equals_in_any_order(std::initializer_list<int> other) const;
  };
  void add_mask(const MaskTree& tree);

  bool softmax_;
  Kinds scores_, masks_, weights_;
};

/// The place of a recipe among combinations; -1 if it is none of them.
template <class... Entries>
int find(const Recipe& recipe, Combinations<Entries...>) {
  const RecipeKinds kinds(recipe);
  int place = -1;
  int next = 0;
  ((place = place < 0 && kinds.are(Entries{}) ? next : place, ++next), ...);
  return place;
}

}  // namespace attn
