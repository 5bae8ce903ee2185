#include "kernels/cpu/build_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/error.hpp"
#include "attn/core/site.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/kernels/target.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {
namespace {

/// Stages a backward pass has room for.
constexpr std::size_t kMaxStages = 16;

template <class Ops>
const Ops* ops_for(const std::array<const Ops*, kTargets>& ops, Target target,
                   const char* what) {
  const Ops* found = ops[static_cast<std::size_t>(target)];
  if (found == nullptr)
    fail<Unsupported>("attn::cpu: a ", what, " of the recipe has no kernels for ",
                      name_of(target), "; compile its functor with attn_kernel_sources()");
  return found;
}

FlatStage flatten(const AnyScore& stage, Target target, bool is_factor) {
  return {stage.data.get(), stage.data.tables.data(), stage.data.slots,
          ops_for(stage.ops, target, is_factor ? "weight modifier" : "score modifier"),
          is_factor};
}

/// Buffers of bits that an expression needs besides its result.
int spare_levels(const MaskTree& tree) {
  int deepest = 0;
  for (const MaskTree& child : tree.children)
    deepest = std::max(deepest, 1 + spare_levels(child));
  return deepest;
}

/// Joins `part` into `bits`.
void join(std::uint8_t* bits, const std::uint8_t* part, std::size_t count, bool all) {
  for (std::size_t i = 0; i < count; ++i)
    bits[i] = static_cast<std::uint8_t>(all ? bits[i] & part[i] : bits[i] | part[i]);
}

/// Writes the bits of one expression; what its children say comes through the buffers behind.
void keep_tree(const MaskTree& tree, Target target, const TilePlace& at, std::uint8_t* bits,
               std::int64_t row_bytes) {
  if (tree.kind == MaskTree::Kind::leaf) {
    tree.leaf.ops[static_cast<std::size_t>(target)]->keep(tree.leaf.data.get(), at, bits,
                                                          row_bytes);
    return;
  }
  const bool all = tree.kind == MaskTree::Kind::all_of;
  const auto count = static_cast<std::size_t>(at.rows * row_bytes);
  std::fill_n(bits, count, static_cast<std::uint8_t>(all ? 0xff : 0));
  for (const MaskTree& child : tree.children) {
    keep_tree(child, target, at, bits + count, row_bytes);
    join(bits, bits + count, count, all);
  }
  if (tree.kind == MaskTree::Kind::none_of)
    for (std::size_t i = 0; i < count; ++i) bits[i] = static_cast<std::uint8_t>(~bits[i]);
}

/// Every leaf must have kernels, which is found out before the work starts.
void check_masks(const MaskTree& tree, Target target) {
  if (tree.kind == MaskTree::Kind::leaf) ops_for(tree.leaf.ops, target, "mask");
  for (const MaskTree& child : tree.children) check_masks(child, target);
}

}  // namespace

Target target_of(const Context& context) {
  const Target target = context.target.value_or(best_target());
  if (!available(target))
    fail<Unsupported>("attn::cpu: the target ", name_of(target),
                      " was asked for, but this build or machine lacks it; `attn info` lists "
                      "what there is");
  return target;
}

Cover PlanHolder::cover_masks(const void* masks, const Block& block) {
  return cover(static_cast<const PlanHolder*>(masks)->recipe_.masks, block);
}

void PlanHolder::keep_masks(const void* masks, const TilePlace& at, std::uint8_t* bits,
                            std::int64_t row_bytes) {
  const auto* holder = static_cast<const PlanHolder*>(masks);
  const auto& trees = holder->recipe_.masks;
  const auto count = static_cast<std::size_t>(at.rows * row_bytes);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    keep_tree(trees[t], holder->target_, at, t == 0 ? bits : bits + count, row_bytes);
    if (t > 0) join(bits, bits + count, count, true);
  }
}

void PlanHolder::pack_weights() {
  const Table& from = recipe_.weights;
  plan_.weights = from;
  if (from.data == nullptr) return;
  const std::int64_t heads = from.shape[1];
  const std::int64_t entries = from.shape[3];
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t c = 0; c < entries; ++c)
      weights_.push_back(
          static_cast<const float*>(from.data)[h * from.strides[1] + c * from.strides[3]]);
  plan_.weights.data = weights_.data();
  plan_.weights.strides = {0, heads > 1 ? entries : 0, 0, entries > 1 ? 1 : 0};
}

void PlanHolder::set_stages() {
  plan_.similarity = recipe_.similarity;
  plan_.scale = recipe_.scale;
  pack_weights();
  if (recipe_.scores.size() > kMaxStages || recipe_.weight_modifiers.size() > kMaxStages)
    fail("attn::cpu: ", recipe_.scores.size(), " score modifiers and ",
         recipe_.weight_modifiers.size(), " weight modifiers; at most ", kMaxStages,
         " of each are accepted");
  for (const AnyScore& stage : recipe_.scores)
    scores_.push_back(flatten(stage, target_, false));
  const AnyNormaliser& n = recipe_.normaliser;
  plan_.streams = n.streams;
  for (const AnyWeight& weight : recipe_.weight_modifiers) {
    factors_.push_back(flatten(weight.stage, target_, weight.is_factor));
    plan_.streams = plan_.streams && weight.is_factor;
  }
  plan_.scores = scores_.data();
  plan_.score_count = static_cast<int>(scores_.size());
  plan_.weight_modifiers = factors_.data();
  plan_.factor_count = static_cast<int>(factors_.size());
  plan_.normaliser = {n.data.get(), n.data.tables.data(),
                      n.data.slots, ops_for(n.ops, target_, "normaliser"),
                      n.coupling,   n.streams,
                      n.runs_max};
  if (!recipe_.masks.empty()) {
    plan_.masks = this;
    for (const MaskTree& tree : recipe_.masks) {
      check_masks(tree, target_);
      plan_.mask_buffers = std::max(plan_.mask_buffers, 2 + spare_levels(tree));
    }
    plan_.cover = &cover_masks;
    plan_.keep = &keep_masks;
  }
}

void PlanHolder::set_grads(const RecipeGrads& grads, BackwardPlan& bp) const {
  for (std::size_t i = 0; i < grads.scores.size(); ++i) bp.scores[i] = grads.scores[i].data();
  for (std::size_t i = 0; i < grads.weight_modifiers.size(); ++i)
    bp.weight_modifiers[i] = grads.weight_modifiers[i].data();
  bp.weights = grads.weights;
  bp.couples = recipe_.normaliser.coupling == Coupling::support || bp.d_weights != nullptr ||
               !std::ranges::all_of(recipe_.weight_modifiers, &AnyWeight::is_factor);
}

}  // namespace attn::cpu
