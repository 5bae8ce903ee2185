#include "attn/kernels/recipe.hpp"

#include <algorithm>
#include <span>

#include "attn/kernels/erase.hpp"
#include "attn/normalise/softmax.hpp"

namespace attn {

Recipe::Recipe() : normaliser(normaliser_stage(normalise::Softmax{})) {}

bool keeps(std::span<const MaskTree> masks, const Site<double>& at) {
  return std::ranges::all_of(masks, [&](const MaskTree& tree) { return keeps(tree, at); });
}

bool keeps(const MaskTree& tree, const Site<double>& at) {
  if (tree.kind == MaskTree::Kind::leaf) return tree.leaf.keep(tree.leaf.data, at);
  if (tree.kind == MaskTree::Kind::all_of) return keeps(tree.children, at);
  const bool any = std::ranges::any_of(tree.children,
                                       [&](const MaskTree& child) { return keeps(child, at); });
  return any == (tree.kind == MaskTree::Kind::any_of);
}

Cover cover(std::span<const MaskTree> masks, const Block& block) {
  Cover result = Cover::all;
  for (const MaskTree& tree : masks)
    if (result != Cover::none) result = result & cover(tree, block);
  return result;
}

Cover cover(const MaskTree& tree, const Block& block) {
  if (tree.kind == MaskTree::Kind::leaf) return tree.leaf.cover(tree.leaf.data, block);
  if (tree.kind == MaskTree::Kind::all_of) return cover(tree.children, block);
  Cover any = Cover::none;
  for (const MaskTree& child : tree.children) any = any | cover(child, block);
  return tree.kind == MaskTree::Kind::any_of ? any : !any;
}

}  // namespace attn
