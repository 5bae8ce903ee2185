// The kinds of a recipe, compared with those of recipes that have kernels of their own.

#include "kernels/common_recipes.hpp"

#include <algorithm>
#include <initializer_list>

#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/recipe.hpp"

namespace attn {

RecipeKinds::RecipeKinds(const Recipe& recipe)
    : softmax_(catalogue::is<normalise::Softmax>(recipe.normaliser)) {
  for (const AnyScore& score : recipe.scores)
    if (scores_.count > 0 || !catalogue::is<score::Scale>(score)) scores_.add(score.kind);
  for (const MaskTree& tree : recipe.masks) {
    if (tree.kind == MaskTree::Kind::all_of) {
      for (const MaskTree& child : tree.children) add_mask(child);
    } else {
      add_mask(tree);
    }
  }
  for (const AnyWeight& weight : recipe.weight_modifiers) weights_.add(weight.kind);
}

void RecipeKinds::add_mask(const MaskTree& tree) {
  const bool is_leaf = tree.kind == MaskTree::Kind::leaf;
  if (is_leaf && catalogue::is<mask::None>(tree.leaf)) return;
  masks_.add(is_leaf ? tree.leaf.kind : -1);
}

bool RecipeKinds::Kinds::equals(std::initializer_list<int> other) const {
  return count == static_cast<int>(other.size()) &&
         std::equal(other.begin(), other.end(), kinds.begin());
}

bool RecipeKinds::Kinds::equals_in_any_order(std::initializer_list<int> other) const {
  return count == static_cast<int>(other.size()) &&
         std::is_permutation(other.begin(), other.end(), kinds.begin());
}

}  // namespace attn
