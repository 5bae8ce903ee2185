/// Functors chosen at run time, for the GPU: a short list of the library's own, which the
/// kernel walks through for every score. The common recipes have kernels of their own; this one
/// serves all the others.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "attn/core/concepts.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/gpu/functor/stages.cuh"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/score/chain.hpp"

namespace attn::gpu {

/// One functor of a list of the catalogue, known at run time.
template <class AnyList>
struct OneOf;
template <class... Fs>
struct OneOf<catalogue::List<Fs...>> {
  static constexpr std::size_t kBytes = [] {
    std::size_t most = 0;
    ((most = sizeof(Fs) > most ? sizeof(Fs) : most), ...);
    return most;
  }();

  alignas(8) unsigned char bytes[kBytes] = {};
  int kind = 0;   ///< its place in the list
  int slot = 0;   ///< its first table
  int slots = 0;  ///< how many it has

  template <class F>
  static constexpr int kKind = catalogue::kKind<F, catalogue::List<Fs...>>;

  /// Takes a stage's functor, the one at `place` of All; false if the list lacks it.
  template <class... All>
  bool take(int place, const StageData& data, catalogue::List<All...>) {
    bool taken = false;
    int next = 0;
    ((taken = next++ == place ? set<All>(data) : taken), ...);
    return taken;
  }
  template <class F>
  bool holds() const {
    return kind == kKind<F>;
  }
  template <class F>
  ATTN_FN const F& get() const {
    return *reinterpret_cast<const F*>(bytes);
  }

  /// visit(functor) with the functor's own type.
  template <class Visit>
  ATTN_FN void visit(const Visit& visit) const {
    int next = 0;
    ((next++ == kind ? visit(get<Fs>()) : void()), ...);
  }

 private:
  template <class F>
  bool set(const StageData& data) {
    if constexpr (kKind<F> >= 0) {
      std::memcpy(bytes, data.get(), sizeof(F));
      kind = kKind<F>;
    }
    return kKind<F> >= 0;
  }
};

template <class N>
struct Streams : std::bool_constant<StreamingNormaliser<N>> {};
template <class F>
struct IsFactor : std::bool_constant<WeightFactor<F>> {};

using AnyDeviceScore = OneOf<catalogue::Scores>;
using AnyDeviceMask = OneOf<catalogue::Masks>;
using AnyDeviceNormaliser = OneOf<decltype(catalogue::only<Streams>(catalogue::Normalisers{}))>;
using AnyDeviceFactor = OneOf<decltype(catalogue::only<IsFactor>(catalogue::Weights{}))>;

/// Score modifiers, one after the other.
struct GeneralScore {
  static constexpr bool kChosenAtRunTime = true;
  static constexpr int kTables = 8;
  static constexpr int kMax = 6;

  AnyDeviceScore links[kMax] = {};
  int count = 0;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    for (int i = 0; i < count; ++i) s = step(links[i], s, at, p);
    return s;
  }

  template <class V, class P, class G>
  ATTN_FN V backward(V grad, V s, Site<V> at, const P& p, const G& g) const {
    V inputs[kMax];
    for (int i = 0; i < count; ++i) {
      inputs[i] = s;
      s = step(links[i], s, at, p);
    }
    for (int i = count - 1; i >= 0; --i) {
      links[i].visit([&](const auto& f) {
        const score::ShiftedSlots<P> own{p, links[i].slot};
        const score::ShiftedSlots<G> own_grads{g, links[i].slot};
        grad = call_backward(f, grad, inputs[i], at, own, own_grads, links[i].slots);
      });
    }
    return grad;
  }

 private:
  template <class V, class P>
  ATTN_FN static V step(const AnyDeviceScore& link, V s, const Site<V>& at, const P& p) {
    link.visit([&](const auto& f) {
      s = call_forward(f, s, at, score::ShiftedSlots<P>{p, link.slot});
    });
    return s;
  }
};

/// A mask expression in postfix order: a leaf is pushed, an operation takes the last `arity`
/// answers and leaves one.
struct GeneralMask {
  using Kind = MaskTree::Kind;
  struct Node {
    Kind kind = Kind::leaf;
    int arity = 0;
    AnyDeviceMask leaf{};
  };
  static constexpr int kMax = 12;

  Node nodes[kMax] = {};
  int count = 0;

  template <class V>
  ATTN_FN bool keep(Site<V> at) const {
    return evaluate<bool>([&](const auto& mask) -> bool { return mask.keep(at); }, true, false);
  }
  ATTN_FN Cover cover(const Block& block) const {
    return evaluate<Cover>([&](const auto& mask) { return mask.cover(block); }, Cover::all,
                           Cover::none);
  }

 private:
  // clang-format off
  ATTN_FN static bool both(bool a, bool b) { return a && b; }
  ATTN_FN static bool either(bool a, bool b) { return a || b; }
  ATTN_FN static Cover both(Cover a, Cover b) { return a & b; }
  ATTN_FN static Cover either(Cover a, Cover b) { return a | b; }
  // clang-format on

  template <class Answer, class Ask>
  ATTN_FN Answer evaluate(const Ask& ask, Answer yes, Answer no) const {
    Answer stack[kMax + 1];
    int top = 0;
    for (int i = 0; i < count; ++i) {
      const Node& node = nodes[i];
      Answer answer = node.kind == Kind::all_of ? yes : no;
      if (node.kind == Kind::leaf)
        node.leaf.visit([&](const auto& mask) { answer = ask(mask); });
      for (int j = 0; j < node.arity; ++j) {
        const Answer other = stack[--top];
        answer = node.kind == Kind::all_of ? both(answer, other) : either(answer, other);
      }
      stack[top++] = node.kind == Kind::none_of ? !answer : answer;
    }
    // What is left on the stack are masks of which all must keep a pair.
    Answer result = yes;
    while (top > 0) result = both(result, stack[--top]);
    return result;
  }
};

/// A streaming normaliser. The maximum runs for all of them; those without one ignore it.
struct GeneralNormaliser {
  static constexpr int kTables = 1;
  static constexpr bool kRunsMax = true;
  static constexpr Coupling kCoupling = Coupling::output;  // see coupling()

  AnyDeviceNormaliser chosen{};

  Coupling coupling() const {
    return ask<Coupling>(
        [](const auto& n) { return std::remove_cvref_t<decltype(n)>::kCoupling; });
  }
  template <class V>
  ATTN_FN V weight(V s, V reference) const {
    return ask<V>([&](const auto& n) { return n.weight(s, reference); });
  }
  template <class V>
  ATTN_FN V rescale(V from, V to) const {
    return ask<V>([&](const auto& n) {
      if constexpr (requires { n.rescale(from, to); }) {
        return n.rescale(from, to);
      } else {
        return V(1.0f);
      }
    });
  }
  template <class V>
  ATTN_FN V mass(V weight) const {
    return ask<V>([&](const auto& n) { return n.mass(weight); });
  }
  template <class V, class P>
  ATTN_FN Row<V> finish(V reference, V mass, const P& p) const {
    return ask<Row<V>>([&](const auto& n) { return n.finish(reference, mass, p); });
  }
  template <class V>
  ATTN_FN V final_weight(V s, V stat, Site<V> at) const {
    return ask<V>([&](const auto& n) { return n.final_weight(s, stat, at); });
  }
  template <class V>
  ATTN_FN V final_slope(V s, V w, V stat, Site<V> at) const {
    return ask<V>([&](const auto& n) { return n.final_slope(s, w, stat, at); });
  }
  template <class V, class P, class G>
  ATTN_FN void backward_row(V stat, V delta, const P& p, const G& g) const {
    chosen.visit([&](const auto& n) {
      if constexpr (requires { n.backward_row(stat, delta, p, g); })
        n.backward_row(stat, delta, p, g);
    });
  }

 private:
  template <class Answer, class Question>
  ATTN_FN Answer ask(const Question& question) const {
    Answer answer{};
    chosen.visit([&](const auto& n) { answer = question(n); });
    return answer;
  }
};

/// Factors of the weights, one after the other.
struct GeneralFactor {
  static constexpr int kTables = 4;
  static constexpr int kMax = 3;

  AnyDeviceFactor links[kMax] = {};
  int count = 0;

  template <class V, class P>
  ATTN_FN V factor(Site<V> at, const P& p) const {
    V product = V(1.0f);
    for (int i = 0; i < count; ++i) {
      links[i].visit([&](const auto& f) {
        product = product * call_factor(f, at, score::ShiftedSlots<P>{p, links[i].slot});
      });
    }
    return product;
  }
};

static_assert(ScoreFunctor<GeneralScore> && MaskFunctor<GeneralMask> &&
              Normaliser<GeneralNormaliser>);
static_assert(WeightFactor<GeneralFactor>);

using GeneralStages = Stages<GeneralScore, GeneralMask, GeneralNormaliser, GeneralFactor>;

}  // namespace attn::gpu
