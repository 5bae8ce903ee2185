/// PlanHolder: lays a recipe and its arguments flat, and keeps what the plan points to.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

/// The target a call takes: the forced one, which must be available, or the best.
Target target_of(const Context& context);

class PlanHolder {
 public:
  /// For the arguments of a forward or of a backward.
  template <class Args>
  PlanHolder(const Args& args, const Recipe& recipe, Target target)
      : recipe_(recipe), target_(target) {
    set_views(Layout(args));
    plan_.out = RawView::of(args.out);
    plan_.stat = StatView::of(args.stat);
    plan_.similarities = RawView::of(args.similarities);
    set_stages();
  }
  PlanHolder(const PlanHolder&) = delete;
  PlanHolder& operator=(const PlanHolder&) = delete;

  const Plan& plan() const { return plan_; }
  Target target() const { return target_; }

  template <class T>
  BackwardPlan backward_plan(const BackwardArgs<T>& args, const RecipeGrads& grads) const {
    BackwardPlan bp;
    bp.base = plan_;
    bp.d_out = RawView::of(args.d_out);
    bp.dq = RawView::of(args.dq);
    bp.dk = RawView::of(args.dk);
    bp.dv = RawView::of(args.dv);
    bp.d_stat = StatView::of(args.d_stat);
    if (args.d_weights.given()) bp.d_weights = &args.d_weights;
    set_grads(grads, bp);
    return bp;
  }

 private:
  template <class T>
  void set_views(const Layout<T>& layout) {
    plan_.q = RawView::of(layout.q);
    plan_.k = RawView::of(layout.k);
    plan_.v = RawView::of(layout.v);
    plan_.packing = layout.packing;
    plan_.paging = layout.paging;
    plan_.sequences = layout.sequences();
    plan_.heads = layout.heads();
    plan_.kv_heads = layout.kv_heads();
    plan_.group = layout.group();
    plan_.channels = layout.channels();
    plan_.value_channels = layout.value_channels();
  }
  void set_stages();
  /// The kernels read the similarity's weights side by side, whatever their strides.
  void pack_weights();
  void set_grads(const RecipeGrads& grads, BackwardPlan& bp) const;

  static Cover cover_masks(const void* masks, const Block& block);
  static void keep_masks(const void* masks, const TilePlace& at, std::uint8_t* bits,
                         std::int64_t row_bytes);

  const Recipe& recipe_;
  Target target_;
  Plan plan_;
  std::vector<float> weights_;  ///< of the similarity [1 or kv_heads, entries]
  std::vector<FlatStage> scores_;
  std::vector<FlatStage> factors_;
};

}  // namespace attn::cpu
