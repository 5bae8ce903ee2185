/// From functors to stages: erases a functor's type and finds its tile kernels. Those of the
/// library's functors come from the catalogue; attn_kernel_sources() compiles yours once for
/// each instruction set; a lambda's are compiled here.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/stage.hpp"  // IWYU pragma: export

namespace attn {
namespace cpu {

/// The tile kernels of a functor for one target, defined in attn/kernels/cpu/compile.hpp. They
/// exist once a file given to attn_kernel_sources() says, for example,
/// `template struct attn::cpu::ScoreKernels<MyScore, attn::cpu::kTarget>;`. An undefined
/// reference to `ScoreKernels<MyScore, ...>::get()` means that no file did.
template <class F, Target kSet>
struct ScoreKernels {
  static const PointwiseOps* get();
};
template <class F, Target kSet>
struct WeightKernels {
  static const PointwiseOps* get();
};
template <class M, Target kSet>
struct MaskKernels {
  static const MaskOps* get();
};
template <class N, Target kSet>
struct NormaliserKernels {
  static const NormaliserOps* get();
};

/// The tile kernels of the catalogue's functors for one target, by kind.
struct StageTable {
  const PointwiseOps* scores[catalogue::Scores::kCount];
  const MaskOps* masks[catalogue::Masks::kCount];
  const NormaliserOps* normalisers[catalogue::Normalisers::kCount];
  const PointwiseOps* weights[catalogue::Weights::kCount];
};
const StageTable& stage_table(Target target);

/// One pointer for each built target: the catalogue's, or what the functor's author compiled.
template <template <class, Target> class Kernels, class F, int kKind, class List>
std::array<std::remove_extent_t<List>, kTargets> kernels_of(List StageTable::* list) {
  std::array<std::remove_extent_t<List>, kTargets> ops{};
  const auto fill = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    const auto of = [&]<Target kSet>() {
      if constexpr (kKind >= 0) {
        return (stage_table(kSet).*list)[kKind];
      } else {
        return Kernels<F, kSet>::get();
      }
    };
    ((ops[static_cast<std::size_t>(kBuiltTargets[kIndex])] =
          of.template operator()<kBuiltTargets[kIndex]>()),
     ...);
  };
  fill(std::make_index_sequence<kBuiltTargets.size()>{});
  return ops;
}

/// Tile kernels that go score by score, for functors that only one file can name: a lambda.
/// They need neither Highway nor attn_kernel_sources(), and are as fast as the compiler makes
/// the loop.
template <class F>
struct ScalarTile {
  static void forward(const void* functor, const Table* tables, const TilePlace& at, float* s,
                      std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      const Params<float> p{tables, at.batch, at.head, at.q + r};
      float* row = s + r * stride;
      for (int c = 0; c < at.cols; ++c)
        row[c] = call_forward(f, row[c], Site<float>{at.batch, at.head, at.q + r, at.k + c}, p);
    }
  }

  static void backward(const void* functor, const Table* tables, const TableGrad* grads,
                       int slots, const TilePlace& at, const float* s, float* grad,
                       std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      const Params<float> p{tables, at.batch, at.head, at.q + r};
      const ParamGrads<float> g{grads, at.batch, at.head, at.q + r};
      for (int c = 0; c < at.cols; ++c) {
        float& down = grad[r * stride + c];
        // A masked score has gradient zero, whatever it and its slope are.
        if (down == 0.0f) continue;
        const Site<float> site{at.batch, at.head, at.q + r, at.k + c};
        down = call_backward(f, down, s[r * stride + c], site, p, g, slots);
      }
    }
  }

  static constexpr PointwiseOps kOps{&forward, &backward};
};

}  // namespace cpu

template <class F>
const F& functor_of(const StageData& data) {
  return *reinterpret_cast<const F*>(data.functor.data());
}

/// Params that only note what is asked of them.
struct ReachParams {
  TableReach& reach;

  ATTN_FN double value(int slot) const { return at(slot, 0); }
  ATTN_FN double at(int slot, int index) const {
    if (slot >= reach.slots) reach.slots = slot + 1;
    if (slot < kMaxTables) {
      auto& low = reach.low[static_cast<std::size_t>(slot)];
      auto& high = reach.high[static_cast<std::size_t>(slot)];
      if (index < low) low = index;
      if (index > high) high = index;
    }
    return 1.0;
  }
  ATTN_FN double along(int slot, const Site<double>& site) const { return at(slot, site.k); }
};

/// The scalar half of a pointwise stage: what the reference calls.
template <class F>
AnyScore erase_score(const F& f, std::initializer_list<Table> tables) {
  AnyScore any;
  any.data = StageData::of(f, tables);
  any.kind = catalogue::kKind<F, catalogue::Scores>;
  any.reads_memory = requires { requires F::kReadsMemory; };
  any.reach = [](const StageData& data, const Site<double>& at, TableReach& reach) {
    call_forward(functor_of<F>(data), 1.0, at, ReachParams{reach});
  };
  any.forward = [](const StageData& data, double s, const Site<double>& at) {
    const Params<double> p{data.tables.data(), at.batch, at.head, at.q};
    return call_forward(functor_of<F>(data), s, at, p);
  };
  any.backward = [](const StageData& data, const TableGrad* grads, double grad, double s,
                    const Site<double>& at) {
    const Params<double> p{data.tables.data(), at.batch, at.head, at.q};
    const ParamGrads<double> g{grads, at.batch, at.head, at.q};
    return call_backward(functor_of<F>(data), grad, s, at, p, g, data.slots);
  };
  return any;
}

/// A score modifier as a stage, with the tables that its p.value(i) and p.at(i, ...) read.
template <ScoreFunctor F>
AnyScore score_stage(const F& f, std::initializer_list<Table> tables = {}) {
  AnyScore any = erase_score(f, tables);
  if constexpr (OneFileFunctor<F>) {
    any.ops.fill(&cpu::ScalarTile<F>::kOps);
    any.one_by_one = true;
  } else {
    any.ops = cpu::kernels_of<cpu::ScoreKernels, F, catalogue::kKind<F, catalogue::Scores>>(
        &cpu::StageTable::scores);
  }
  return any;
}

/// The scalar half of a weight modifier.
template <class F>
AnyWeight erase_weight(const F& f, std::initializer_list<Table> tables) {
  return {erase_score(typename WeightStageOf<F>::type{f}, tables), WeightFactor<F>,
          catalogue::kKind<F, catalogue::Weights>};
}

/// A weight modifier as a stage.
template <WeightFunctor F>
AnyWeight weight_stage(const F& f, std::initializer_list<Table> tables = {}) {
  AnyWeight any = erase_weight(f, tables);
  if constexpr (OneFileFunctor<F>) {
    any.stage.ops.fill(&cpu::ScalarTile<F>::kOps);
    any.stage.one_by_one = true;
  } else {
    any.stage.ops =
        cpu::kernels_of<cpu::WeightKernels, F, catalogue::kKind<F, catalogue::Weights>>(
            &cpu::StageTable::weights);
  }
  return any;
}

/// The scalar half of a mask.
template <class M>
AnyMask erase_mask(const M& mask) {
  AnyMask any;
  any.data = StageData::of(mask, {});
  any.kind = catalogue::kKind<M, catalogue::Masks>;
  any.keep = [](const StageData& data, const Site<double>& at) {
    return static_cast<bool>(functor_of<M>(data).keep(at));
  };
  any.cover = [](const StageData& data, const Block& block) {
    return functor_of<M>(data).cover(block);
  };
  return any;
}

/// A mask as a stage.
template <MaskFunctor M>
AnyMask mask_stage(const M& mask) {
  AnyMask any = erase_mask(mask);
  any.ops = cpu::kernels_of<cpu::MaskKernels, M, catalogue::kKind<M, catalogue::Masks>>(
      &cpu::StageTable::masks);
  return any;
}

/// The scalar half of a normaliser.
template <class N>
AnyNormaliser erase_normaliser(const N& normaliser, std::initializer_list<Table> tables) {
  AnyNormaliser any;
  any.data = StageData::of(normaliser, tables);
  any.kind = catalogue::kKind<N, catalogue::Normalisers>;
  any.coupling = N::kCoupling;
  any.streams = StreamingNormaliser<N>;
  any.runs_max = N::kRunsMax;
  if constexpr (StreamingNormaliser<N>) {
    any.weight = [](const StageData& data, double s, double reference) {
      return functor_of<N>(data).weight(s, reference);
    };
    any.mass = [](const StageData& data, double w) { return functor_of<N>(data).mass(w); };
    any.finish = [](const StageData& data, double reference, double mass,
                    const Params<double>& p) {
      return functor_of<N>(data).finish(reference, mass, p);
    };
  } else {
    any.solve = [](const StageData& data, const double* s, int count, const Site<double>& at) {
      return functor_of<N>(data).solve(s, count, at);
    };
  }
  any.final_weight = [](const StageData& data, double s, double stat, const Site<double>& at) {
    return functor_of<N>(data).final_weight(s, stat, at);
  };
  any.final_slope = [](const StageData& data, double s, double w, double stat,
                       const Site<double>& at) {
    return functor_of<N>(data).final_slope(s, w, stat, at);
  };
  if constexpr (requires(const N& n, double x, const Params<double>& p,
                         const ParamGrads<double>& g) { n.backward_row(x, x, p, g); }) {
    any.backward_row = [](const StageData& data, const TableGrad* grads, double stat,
                          double delta, const Params<double>& p) {
      const ParamGrads<double> g{grads, p.batch, p.head, p.q};
      functor_of<N>(data).backward_row(stat, delta, p, g);
    };
  }
  return any;
}

/// A normaliser as a stage.
template <Normaliser N>
AnyNormaliser normaliser_stage(const N& normaliser, std::initializer_list<Table> tables = {}) {
  AnyNormaliser any = erase_normaliser(normaliser, tables);
  any.ops =
      cpu::kernels_of<cpu::NormaliserKernels, N, catalogue::kKind<N, catalogue::Normalisers>>(
          &cpu::StageTable::normalisers);
  return any;
}

// The same for types that are no functors: each says in a sentence what is missing, where a
// failed concept would only list candidates. Each list of requirements is its concept's,
// so that one of the assertions always fails.

template <class F>
  requires(!ScoreFunctor<F>)
AnyScore score_stage(const F&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<F>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(
      !PlainFunctor<F>,
      "a score functor needs `V forward(V s, Site<V> at) const` for every number type "
      "V, with `const P& p` as a third parameter if it reads tables");
  return {};
}

template <class F>
  requires(!WeightFunctor<F>)
AnyWeight weight_stage(const F&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<F>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(!PlainFunctor<F>,
                "a weight modifier needs `V factor(Site<V> at) const`, or "
                "`V forward(V w, Site<V> at) const`, for every number type V");
  return {};
}

template <class M>
  requires(!MaskFunctor<M>)
AnyMask mask_stage(const M&) {
  static_assert(PlainFunctor<M>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(
      requires(const M& mask, Site<double> at) {
        { mask.keep(at) } -> std::convertible_to<bool>;
      }, "a mask needs `auto keep(Site<V> at) const`: whether the pair exists");
  static_assert(
      requires(const M& mask, Block block) {
        { mask.cover(block) } -> std::same_as<Cover>;
      },
      "a mask needs `Cover cover(const Block& block) const`: how much of a block it "
      "keeps; Cover::some is always a safe answer");
  return {};
}

template <class N>
  requires(!Normaliser<N>)
AnyNormaliser normaliser_stage(const N&, std::initializer_list<Table> = {}) {
  static_assert(PlainFunctor<N>,
                "a functor must be trivially copyable: kernels copy it as plain bytes");
  static_assert(StreamingNormaliser<N> || WholeRowNormaliser<N>,
                "a normaliser needs either `weight`, `mass` and `finish`, to take the keys one "
                "by one, or `solve`, to see a whole row first");
  static_assert(
      requires {
        { N::kCoupling } -> std::convertible_to<Coupling>;
        { N::kRunsMax } -> std::convertible_to<bool>;
      }, "a normaliser needs the constants `kCoupling` and `kRunsMax`");
  static_assert(
      requires(const N& n, double x, Site<double> at) {
        { n.final_weight(x, x, at) } -> std::same_as<double>;
      },
      "a normaliser needs `V final_weight(V s, V stat, Site<V> at) const`: the weight "
      "of a score once its row is known");
  static_assert(
      requires(const N& n, double x, Site<double> at) {
        { n.final_slope(x, x, x, at) } -> std::same_as<double>;
      },
      "a normaliser needs `V final_slope(V s, V w, V stat, Site<V> at) const`: the "
      "derivative of that weight by its score");
  return {};
}

}  // namespace attn
