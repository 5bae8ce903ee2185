/// Asking a mask expression: for one pair, and for a whole block.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>

#include "attn/kernels/recipe.hpp"

namespace attn {

/// Whether the expression keeps a pair.
inline bool keeps(const MaskTree& tree, const Site<double>& at) {
  switch (tree.kind) {
    case MaskTree::Kind::leaf:
      return tree.leaf.keep(tree.leaf.data, at);
    case MaskTree::Kind::all_of:
      for (const MaskTree& child : tree.children)
        if (!keeps(child, at)) return false;
      return true;
    case MaskTree::Kind::any_of:
      for (const MaskTree& child : tree.children)
        if (keeps(child, at)) return true;
      return false;
    case MaskTree::Kind::none_of:
      for (const MaskTree& child : tree.children)
        if (keeps(child, at)) return false;
      return true;
  }
  return true;
}
inline bool keeps(std::span<const MaskTree> masks, const Site<double>& at) {
  for (const MaskTree& mask : masks)
    if (!keeps(mask, at)) return false;
  return true;
}

/// How much of a block the expression keeps.
inline Cover cover(const MaskTree& tree, const Block& block) {
  Cover result = tree.kind == MaskTree::Kind::all_of ? Cover::all : Cover::none;
  switch (tree.kind) {
    case MaskTree::Kind::leaf:
      return tree.leaf.cover(tree.leaf.data, block);
    case MaskTree::Kind::all_of:
      for (const MaskTree& child : tree.children) result = result & cover(child, block);
      return result;
    case MaskTree::Kind::any_of:
    case MaskTree::Kind::none_of:
      for (const MaskTree& child : tree.children) result = result | cover(child, block);
      return tree.kind == MaskTree::Kind::any_of ? result : !result;
  }
  return Cover::some;
}
inline Cover cover(std::span<const MaskTree> masks, const Block& block) {
  Cover result = Cover::all;
  for (const MaskTree& mask : masks) {
    result = result & cover(mask, block);
    if (result == Cover::none) break;
  }
  return result;
}

}  // namespace attn
