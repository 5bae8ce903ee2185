#include "attn/tensor/spec/keep.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/mask/none.hpp"
#include "attn/tensor/spec/stage.hpp"

namespace attn::spec {

/// A leaf, or parts under a connective.
struct Keep::Node {
  MaskTree::Kind kind = MaskTree::Kind::leaf;
  Stage<AnyMask> leaf;
  std::vector<Keep> parts;
};

Keep::Keep(Stage<AnyMask> leaf)
    : node_(std::make_shared<const Node>(
          Node{MaskTree::Kind::leaf, std::move(leaf), std::vector<Keep>{}})) {}

Keep Keep::join(MaskTree::Kind kind, const std::vector<Keep>& parts) {
  Node node{kind, {}, {}};
  for (const Keep& part : parts) {
    // a && (b && c) is one list, which kernels walk faster than a tree.
    if (kind != MaskTree::Kind::none_of && part.node_->kind == kind) {
      node.parts.insert(node.parts.end(), part.node_->parts.begin(), part.node_->parts.end());
    } else {
      node.parts.push_back(part);
    }
  }
  Keep joined;
  joined.node_ = std::make_shared<const Node>(std::move(node));
  return joined;
}

Lowered<MaskTree> Keep::lower(const Problem& problem) const {
  if (keeps_all()) return {MaskTree::of(mask_stage(mask::None{}))};
  if (node_->kind == MaskTree::Kind::leaf) {
    Lowered<AnyMask> leaf = node_->leaf.lower(problem);
    return {MaskTree::of(leaf.stage), {}, std::move(leaf.reads), std::move(leaf.owns)};
  }
  Lowered<MaskTree> tree{{node_->kind, {}, {}}};
  const auto owns = std::make_shared<std::vector<std::shared_ptr<const void>>>();
  for (const Keep& part : node_->parts) {
    Lowered<MaskTree> child = part.lower(problem);
    tree.stage.children.push_back(std::move(child.stage));
    tree.reads.insert(tree.reads.end(), child.reads.begin(), child.reads.end());
    owns->push_back(std::move(child.owns));
  }
  tree.owns = owns;
  return tree;
}

Keep operator&&(const Keep& a, const Keep& b) {
  if (a.keeps_all()) return b;
  if (b.keeps_all()) return a;
  return Keep::join(MaskTree::Kind::all_of, {a, b});
}

Keep operator||(const Keep& a, const Keep& b) {
  if (a.keeps_all() || b.keeps_all()) return {};
  return Keep::join(MaskTree::Kind::any_of, {a, b});
}

Keep operator!(const Keep& a) {
  if (!a.keeps_all()) return Keep::join(MaskTree::Kind::none_of, {a});
  const Keep everything(
      {[](const Problem&) { return Lowered<AnyMask>{mask_stage(mask::None{})}; }});
  return Keep::join(MaskTree::Kind::none_of, {everything});
}

Keep all() {
  return {};
}

}  // namespace attn::spec
