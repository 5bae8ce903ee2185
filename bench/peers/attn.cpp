// SPDX-License-Identifier: Apache-2.0
//
// Ours: the fused kernels on the problem's own views.

#include "peers/attn.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/sliding_window.hpp"
#include "contender.hpp"
#include "data.hpp"
#include "peers/peers.hpp"
#include "problem.hpp"

namespace attn::bench {
namespace {

Recipe recipe_of(const Problem& p) {
  Recipe recipe;
  recipe.similarity = Similarity::dot;
  recipe.scale = 1.0f / std::sqrt(static_cast<float>(p.dim));
  const int offset = static_cast<int>(p.keys - p.queries);
  if (p.keep == Keep::causal) {
    recipe.masks.push_back(MaskTree::of(mask_stage(mask::Causal{offset})));
  } else if (p.keep == Keep::window) {
    const mask::SlidingWindow window{static_cast<int>(p.window) - 1, 0, offset};
    recipe.masks.push_back(MaskTree::of(mask_stage(window)));
  }
  return recipe;
}

class Dot {
 public:
  Dot(const Problem& problem, const Data& data, const Setting& setting)
      : p_(problem),
        data_(data),
        recipe_(recipe_of(problem)),
        context_(context_of(setting)),
        out_(data.q.size()),
        stat_(p_.batch * p_.heads * p_.queries) {
    if (p_.pass == Pass::forward) return;
    dq_ = Buffer(data.q.size());
    dk_ = Buffer(data.k.size());
    dv_ = Buffer(data.v.size());
    if (p_.pass != Pass::backward) return;
    reserve();
    forward();
  }

  void call() {
    reserve();
    if (p_.pass != Pass::backward) forward();
    if (p_.pass != Pass::forward) backward();
  }

  Witness witness() const {
    const std::int64_t heads = p_.batch * p_.heads;
    Witness witness;
    if (p_.pass != Pass::backward) witness["out"] = last_head(out_, heads);
    if (p_.pass != Pass::forward) {
      witness["dq"] = last_head(dq_, heads);
      witness["dk"] = last_head(dk_, heads);
      witness["dv"] = last_head(dv_, heads);
    }
    return witness;
  }

 private:
  /// Memory that is neither input nor output, taken inside the first call so that it is
  /// counted.
  void reserve() {
    if (p_.pass == Pass::forward || similarities_.size() > 0) return;
    if (keeps_similarities({.recipe = &recipe_,
                            .queries = p_.queries,
                            .keys = p_.keys,
                            .channels = p_.dim,
                            .taped = true}))
      similarities_ = Buffer(p_.batch * p_.heads * p_.queries * p_.keys);
  }

  template <class T>
  View<T, 4> similarities() const {
    if (similarities_.size() == 0) return {};
    return packed<T>(similarities_.data(), p_.batch, p_.heads, p_.queries, p_.keys);
  }
  template <class T>
  View<T, 4> queries(const Buffer& buffer) const {
    return packed<T>(buffer.data(), p_.batch, p_.heads, p_.queries, p_.dim);
  }
  template <class T>
  View<T, 4> keys(const Buffer& buffer) const {
    return packed<T>(buffer.data(), p_.batch, p_.heads, p_.keys, p_.dim);
  }
  template <class T>
  View<T, 3> stat() const {
    return packed<T>(stat_.data(), p_.batch, p_.heads, p_.queries);
  }

  void forward() const {
    ForwardArgs<float> args{.q = queries<const float>(data_.q),
                            .k = keys<const float>(data_.k),
                            .v = keys<const float>(data_.v),
                            .out = queries<float>(out_)};
    // Inference does not pay for statistics that only the backward reads.
    if (p_.pass != Pass::forward) {
      args.stat = stat<float>();
      args.similarities = similarities<float>();
    }
    cpu::forward(args, recipe_, context_);
  }

  void backward() const {
    const BackwardArgs<float> args{.q = queries<const float>(data_.q),
                                   .k = keys<const float>(data_.k),
                                   .v = keys<const float>(data_.v),
                                   .out = queries<const float>(out_),
                                   .stat = stat<const float>(),
                                   .d_out = queries<const float>(data_.grad_out),
                                   .dq = queries<float>(dq_),
                                   .dk = keys<float>(dk_),
                                   .dv = keys<float>(dv_),
                                   .similarities = similarities<const float>()};
    cpu::backward(args, recipe_, {}, context_);
  }

  Problem p_;
  const Data& data_;
  Recipe recipe_;
  cpu::Context context_;
  Buffer out_, stat_, dq_, dk_, dv_, similarities_;
};

}  // namespace

cpu::Context context_of(const Setting& setting) {
  const auto* target = std::find_if(cpu::kBuiltTargets.begin(), cpu::kBuiltTargets.end(),
                                    [&](Target each) { return name_of(each) == setting.set; });
  if (target == cpu::kBuiltTargets.end()) {
    throw std::invalid_argument("no kernels of attn for '" + setting.set + "'");
  }
  return {.threads = setting.threads, .target = *target};
}

std::unique_ptr<Contender> enter_dot(const Problem& problem, const Data& data,
                                     const Setting& setting) {
  auto work = std::make_shared<Dot>(problem, data, setting);
  return std::make_unique<LocalContender>(
      setting.threads, [work] { work->call(); }, [work] { return work->witness(); });
}

Peer attn_peer() {
  Peer peer;
  peer.name = "attn";
  peer.about = "the fused kernels of this library";
  peer.serves = [](const Problem&) { return true; };
  peer.enter = [](const Problem& problem, const Data& data, const Setting& setting) {
    return problem.family == Family::dot ? enter_dot(problem, data, setting)
                                         : enter_additive(problem, data, setting);
  };
  peer.once = [](const Problem& problem, const Setting& setting, Check check) {
    return once_in_child("attn", problem, setting, check);
  };
  return peer;
}

}  // namespace attn::bench
