/// Tile kernels of functors: include this in a file given to attn_kernel_sources() and name
/// each functor, for example
///     template struct attn::cpu::ScoreKernels<MyScore, attn::cpu::kTarget>;
/// In a file compiled any other way, attn::cpu::native_score(f) and its like make stages that
/// use that file's own flags.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <initializer_list>

#include "attn/core/concepts.hpp"            // IWYU pragma: export
#include "attn/kernels/cpu/lane.hpp"         // IWYU pragma: export
#include "attn/kernels/cpu/lane_math.hpp"    // IWYU pragma: export
#include "attn/kernels/cpu/lane_params.hpp"  // IWYU pragma: export
#include "attn/kernels/erase.hpp"            // IWYU pragma: export

namespace attn::cpu::inline ATTN_TARGET {

/// The target this file is being compiled for.
inline constexpr Target kTarget = Target::ATTN_TARGET;

/// Calls visit(row, column, site, lanes that are real) for each vector of a tile. Positions of
/// lanes past the last key repeat that key, so that tables are never read beyond their end.
template <class Visit>
ATTN_FN void for_each_vector(const TilePlace& at, const Visit& visit) {
  for (int r = 0; r < at.rows; ++r) {
    int c = 0;
    for (; c + kLanes <= at.cols; c += kLanes)
      visit(r, c, Site<Lane>{at.batch, at.head, at.q + r, LaneIndex::ramp(at.k + c)}, kLanes);
    if (c < at.cols) {
      const LaneIndex k = min(LaneIndex::ramp(at.k + c), LaneIndex(at.k + at.cols - 1));
      visit(r, c, Site<Lane>{at.batch, at.head, at.q + r, k}, at.cols - c);
    }
  }
}

template <class F>
struct PointwiseTile {
  static void forward(const void* functor, const Table* tables, const TilePlace& at, float* s,
                      std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for_each_vector(at, [&](int r, int c, const Site<Lane>& site, int count) ATTN_LAMBDA {
      const Params<Lane> p{tables, at.batch, at.head, site.q, count};
      float* place = s + r * stride + c;
      call_forward(f, Lane::load(place), site, p).store(place);
    });
  }

  static void backward(const void* functor, const Table* tables, const TableGrad* grads,
                       int slots, const TilePlace& at, const float* s, float* grad,
                       std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for_each_vector(at, [&](int r, int c, const Site<Lane>& site, int count) ATTN_LAMBDA {
      const Params<Lane> p{tables, at.batch, at.head, site.q, count};
      const ParamGrads<Lane> g{grads, at.batch, at.head, site.q, count};
      float* place = grad + r * stride + c;
      const Lane upstream = Lane::load(place);
      // A masked score has gradient zero, whatever it and its slope are.
      const LaneMask idle = upstream == Lane(0.0f);
      const Lane input = select(idle, Lane(0.0f), Lane::load(s + r * stride + c));
      const Lane down = call_backward(f, upstream, input, site, p, g, slots);
      select(idle, Lane(0.0f), down).store(place);
    });
  }
};

template <class M>
struct MaskTile {
  static void keep(const void* functor, const TilePlace& at, std::uint8_t* out,
                   std::int64_t row_bytes) {
    const M mask = *static_cast<const M*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      std::uint8_t* row = out + r * row_bytes;
      // Eight keys a byte: a vector of four lanes fills half of one.
      constexpr int kStep = kLanes < 8 ? 8 : kLanes;
      for (int c = 0; c < at.cols; c += kStep) {
        unsigned word = 0;
        for (int part = 0; part < kStep; part += kLanes) {
          const LaneIndex k =
              min(LaneIndex::ramp(at.k + c + part), LaneIndex(at.k + at.cols - 1));
          const LaneMask kept = mask.keep(Site<Lane>{at.batch, at.head, at.q + r, k});
          word |= bits(kept) << part;
        }
        for (int byte = 0; byte < kStep / 8; ++byte)
          row[c / 8 + byte] = static_cast<std::uint8_t>(word >> (8 * byte));
      }
    }
  }
};

template <class N>
struct NormaliserTile {
  static constexpr int unrolled(int cols) { return (cols + kLanes - 1) / kLanes * kLanes; }

  static float row_max(const float* s, int cols) {
    Lane first(-kInfinity);
    Lane second(-kInfinity);
    int c = 0;
    for (; c + 2 * kLanes <= cols; c += 2 * kLanes) {
      first = max(first, Lane::load(s + c));
      second = max(second, Lane::load(s + c + kLanes));
    }
    if (c < cols) first = max(first, Lane::load(s + c));
    return reduce_max(max(first, second));
  }

  static void push(const void* functor, const TilePlace& at, float* s, std::int64_t stride,
                   float* reference, float* mass, float* rescale) {
    const N n = *static_cast<const N*>(functor);
    const int cols = unrolled(at.cols);
    for (int r = 0; r < at.rows; ++r) {
      float* row = s + r * stride;
      float top = 0.0f;
      rescale[r] = 1.0f;
      if constexpr (N::kRunsMax) {
        top = attn::max(reference[r], row_max(row, cols));
        rescale[r] = n.rescale(reference[r], top);
        reference[r] = top;
        // Nothing kept so far: any finite reference gives the masked scores weight zero.
        if (top == -kInfinity) top = 0.0f;
      }
      Lane sum(0.0f);
      Lane sum2(0.0f);
      int c = 0;
      for (; c + 2 * kLanes <= cols; c += 2 * kLanes) {
        sum += one(n, row + c, top);
        sum2 += one(n, row + c + kLanes, top);
      }
      if (c < cols) sum += one(n, row + c, top);
      mass[r] = mass[r] * rescale[r] + reduce_sum(sum + sum2);
    }
  }

  /// Weights of one vector in place; returns what they add to the mass.
  ATTN_FN static Lane one(const N& n, float* place, float top) {
    const Lane s = Lane::load(place);
    if constexpr (N::kRunsMax) {
      const Lane w = n.weight(s, Lane(top));
      w.store(place);
      return n.mass(w);
    } else {
      const LaneMask masked = s == Lane(-kInfinity);
      const Lane w = select(masked, Lane(0.0f), n.weight(s, Lane(0.0f)));
      w.store(place);
      return select(masked, Lane(0.0f), n.mass(w));
    }
  }

  static void finish(const void* functor, const Table* tables, const TilePlace& at,
                     const float* reference, const float* mass, float* scale, float* stat) {
    const N n = *static_cast<const N*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      const Params<float> p{tables, at.batch, at.head, at.q + r};
      const Row<float> row = n.finish(reference[r], mass[r], p);
      scale[r] = row.scale;
      if (stat != nullptr) stat[r] = row.stat;
    }
  }

  static void solve(const void* functor, const TilePlace& at, const float* s,
                    std::int64_t stride, float* stat) {
    const N n = *static_cast<const N*>(functor);
    for (int r = 0; r < at.rows; ++r)
      stat[r] =
          n.solve(s + r * stride, at.cols, Site<float>{at.batch, at.head, at.q + r, at.k});
  }

  /// The final weights of one vector of scores.
  ATTN_FN static Lane weigh(const N& n, Lane s, Lane stat, const Site<Lane>& site) {
    return select(s == Lane(-kInfinity), Lane(0.0f), n.final_weight(s, stat, site));
  }

  static void weights(const void* functor, const TilePlace& at, float* s, std::int64_t stride,
                      const float* stat) {
    const N n = *static_cast<const N*>(functor);
    for_each_vector(at, [&](int r, int c, const Site<Lane>& site, int) ATTN_LAMBDA {
      float* place = s + r * stride + c;
      weigh(n, Lane::load(place), Lane(stat[r]), site).store(place);
    });
  }

  static void backward(const void* functor, const TilePlace& at, float* s, float* grad,
                       std::int64_t stride, const float* stat, const float* delta) {
    const N n = *static_cast<const N*>(functor);
    for_each_vector(at, [&](int r, int c, const Site<Lane>& site, int) ATTN_LAMBDA {
      float* place = s + r * stride + c;
      float* down = grad + r * stride + c;
      const Lane score = Lane::load(place);
      const LaneMask masked = score == Lane(-kInfinity);
      const Lane w = select(masked, Lane(0.0f), n.final_weight(score, Lane(stat[r]), site));
      const Lane slope = n.final_slope(score, w, Lane(stat[r]), site);
      w.store(place);
      select(masked, Lane(0.0f), slope * (Lane::load(down) - Lane(delta[r]))).store(down);
    });
  }

  static void couple(const void* functor, const TilePlace& at, const float* s,
                     const float* grad, std::int64_t stride, const float* stat,
                     float* numerator, float* denominator) {
    const N n = *static_cast<const N*>(functor);
    for_each_vector(at, [&](int r, int c, const Site<Lane>& site, int count) ATTN_LAMBDA {
      const Lane score = Lane::load(s + r * stride + c);
      const LaneMask counts = !(score == Lane(-kInfinity)) & first_lanes(count);
      const Lane w = n.final_weight(score, Lane(stat[r]), site);
      Lane share = w;
      if constexpr (N::kCoupling == Coupling::support)
        share = n.final_slope(score, w, Lane(stat[r]), site);
      share = select(counts, share, Lane(0.0f));
      numerator[r] +=
          reduce_sum(select(counts, share * Lane::load(grad + r * stride + c), Lane(0.0f)));
      // Weights that sum to one do so but for the rounding of stat, which delta would take
      // over: at scores of 40 that is 4e-6 of it.
      if constexpr (N::kCoupling == Coupling::support || SumsToOne<N>)
        denominator[r] += reduce_sum(share);
    });
  }
};

template <class N>
constexpr NormaliserOps normaliser_ops() {
  using Tile = NormaliserTile<N>;
  NormaliserOps ops{};
  if constexpr (StreamingNormaliser<N>) {
    ops.push = &Tile::push;
    ops.finish = &Tile::finish;
  } else {
    ops.solve = &Tile::solve;
  }
  ops.weights = &Tile::weights;
  ops.backward = &Tile::backward;
  ops.couple = &Tile::couple;
  return ops;
}

template <class F>
inline constexpr PointwiseOps kPointwiseOps{&PointwiseTile<F>::forward,
                                            &PointwiseTile<F>::backward};
template <class M>
inline constexpr MaskOps kMaskOps{&MaskTile<M>::keep};
template <class N>
inline constexpr NormaliserOps kNormaliserOps = normaliser_ops<N>();

}  // namespace attn::cpu::inline ATTN_TARGET

namespace attn::cpu {

template <class F, Target kSet>
const PointwiseOps* ScoreKernels<F, kSet>::get() {
  static_assert(kSet == kTarget, "name attn::cpu::kTarget as the target");
  return &kPointwiseOps<F>;
}
template <class F, Target kSet>
const PointwiseOps* WeightKernels<F, kSet>::get() {
  static_assert(kSet == kTarget, "name attn::cpu::kTarget as the target");
  return &kPointwiseOps<typename WeightStageOf<F>::type>;
}
template <class M, Target kSet>
const MaskOps* MaskKernels<M, kSet>::get() {
  static_assert(kSet == kTarget, "name attn::cpu::kTarget as the target");
  return &kMaskOps<M>;
}
template <class N, Target kSet>
const NormaliserOps* NormaliserKernels<N, kSet>::get() {
  static_assert(kSet == kTarget, "name attn::cpu::kTarget as the target");
  return &kNormaliserOps<N>;
}

/// Stages compiled with this file's own flags, for files outside attn_kernel_sources().
template <ScoreFunctor F>
AnyScore native_score(const F& f, std::initializer_list<Table> tables = {}) {
  AnyScore any = erase_score(f, tables);
  any.ops.fill(ScoreKernels<F, Target::native>::get());
  return any;
}
template <WeightFunctor F>
AnyWeight native_weight(const F& f, std::initializer_list<Table> tables = {}) {
  AnyWeight any = erase_weight(f, tables);
  any.stage.ops.fill(WeightKernels<F, Target::native>::get());
  return any;
}
template <MaskFunctor M>
AnyMask native_mask(const M& mask) {
  AnyMask any = erase_mask(mask);
  any.ops.fill(MaskKernels<M, Target::native>::get());
  return any;
}
template <Normaliser N>
AnyNormaliser native_normaliser(const N& n, std::initializer_list<Table> tables = {}) {
  AnyNormaliser any = erase_normaliser(n, tables);
  any.ops.fill(NormaliserKernels<N, Target::native>::get());
  return any;
}

}  // namespace attn::cpu
