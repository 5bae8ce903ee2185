/// Stages chosen at run time: functors with their type erased, so that one kernel serves every
/// combination. A stage works on whole tiles of scores (one indirect call a tile, the functor
/// inlined inside), and score by score in double for the reference.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "attn/core/concepts.hpp"  // IWYU pragma: export
#include "attn/core/error.hpp"
#include "attn/core/table.hpp"      // IWYU pragma: export
#include "attn/kernels/target.hpp"  // IWYU pragma: export

namespace attn {

/// The top left corner and the size of a tile of scores of one head. The tile's memory is
/// padded to a multiple of kTilePad columns; what lies past `cols` is never read back.
struct TilePlace {
  int batch = 0;
  int head = 0;
  int q = 0;
  int k = 0;
  int rows = 0;
  int cols = 0;
};

/// Columns of a tile are padded to the widest vector there is.
inline constexpr int kTilePad = 16;

/// What a kernel needs of a pointwise stage (a score modifier or a weight modifier). `s` is
/// changed in place; in backward, `grad` is, and `s` is the stage's input.
struct PointwiseOps {
  void (*forward)(const void* functor, const Table* tables, const TilePlace& at, float* s,
                  std::int64_t stride);
  void (*backward)(const void* functor, const Table* tables, const TableGrad* grads, int slots,
                   const TilePlace& at, const float* s, float* grad, std::int64_t stride);
};

/// What a kernel needs of a mask: one bit a score, row by row, 1 = keep.
struct MaskOps {
  void (*keep)(const void* functor, const TilePlace& at, std::uint8_t* bits,
               std::int64_t row_bytes);
};

/// What a kernel needs of a normaliser. Masked scores arrive as -inf, padding too.
struct NormaliserOps {
  /// Scores become weights in place; reference and mass run along, one number a row, and what
  /// was pooled before must be multiplied by `rescale`. Null for whole-row normalisers.
  void (*push)(const void* functor, const TilePlace& at, float* s, std::int64_t stride,
               float* reference, float* mass, float* rescale);
  void (*finish)(const void* functor, const Table* tables, const TilePlace& at,
                 const float* reference, const float* mass, float* scale, float* stat);
  /// stat of whole rows of scores; null for streaming normalisers.
  void (*solve)(const void* functor, const TilePlace& at, const float* s, std::int64_t stride,
                float* stat);
  /// Scores become final weights in place, the rows' stat being known.
  void (*weights)(const void* functor, const TilePlace& at, float* s, std::int64_t stride,
                  const float* stat);
  /// Scores become weights, and the gradient of weights that of scores: slope * (grad - delta).
  void (*backward)(const void* functor, const TilePlace& at, float* s, float* grad,
                   std::int64_t stride, const float* stat, const float* delta);
  /// Adds to the two sums from which delta is made (see Coupling).
  void (*couple)(const void* functor, const TilePlace& at, const float* s, const float* grad,
                 std::int64_t stride, const float* stat, float* numerator, float* denominator);
};

/// The functor's bytes and its tables.
struct StageData {
  static constexpr std::size_t kBytes = 192;
  alignas(8) std::array<std::byte, kBytes> functor{};
  std::array<Table, kMaxTables> tables{};
  int slots = 0;

  template <class F>
  static StageData of(const F& f, std::initializer_list<Table> given) {
    static_assert(PlainFunctor<F>, "a functor must be trivially copyable");
    static_assert(sizeof(F) <= kBytes,
                  "a functor holds at most 192 bytes; keep arrays outside");
    StageData data;
    std::memcpy(data.functor.data(), &f, sizeof(F));
    if (given.size() > kMaxTables)
      fail("attn::StageData: ", given.size(), " tables; at most ", kMaxTables, " are accepted");
    for (const Table& t : given) data.tables[static_cast<std::size_t>(data.slots++)] = t;
    return data;
  }
  const void* get() const { return functor.data(); }
};

/// The entries of its tables that a functor looked up.
struct TableReach {
  int slots = 0;
  std::array<std::int64_t, kMaxTables> low{};
  std::array<std::int64_t, kMaxTables> high{};
};

/// A score modifier of any type.
struct AnyScore {
  StageData data;
  int kind = -1;              ///< its place in the catalogue; -1: a functor of your own
  bool reads_memory = false;  ///< besides its tables, where the kernels run
  bool one_by_one = false;    ///< its tiles go score by score: a lambda
  /// Looks at which entries the functor reads for one score, without reading them.
  void (*reach)(const StageData&, const Site<double>&, TableReach&) = nullptr;
  double (*forward)(const StageData&, double s, const Site<double>&) = nullptr;
  double (*backward)(const StageData&, const TableGrad*, double grad, double s,
                     const Site<double>&) = nullptr;
  std::array<const PointwiseOps*, kTargets> ops{};
};

/// A weight modifier of any type; a factor keeps the kernel in one pass.
struct AnyWeight {
  AnyScore stage;
  bool is_factor = false;
  int kind = -1;
};

/// A mask of any type.
struct AnyMask {
  StageData data;
  int kind = -1;
  bool (*keep)(const StageData&, const Site<double>&) = nullptr;
  Cover (*cover)(const StageData&, const Block&) = nullptr;
  std::array<const MaskOps*, kTargets> ops{};
};

/// A normaliser of any type. The scalar functions are null where the functor lacks them.
struct AnyNormaliser {
  StageData data;
  int kind = -1;
  Coupling coupling = Coupling::none;
  bool streams = true;
  bool runs_max = false;
  double (*weight)(const StageData&, double s, double reference) = nullptr;
  double (*mass)(const StageData&, double w) = nullptr;
  Row<double> (*finish)(const StageData&, double reference, double mass,
                        const Params<double>&) = nullptr;
  double (*solve)(const StageData&, const double* s, int count, const Site<double>&) = nullptr;
  double (*final_weight)(const StageData&, double s, double stat,
                         const Site<double>&) = nullptr;
  double (*final_slope)(const StageData&, double s, double w, double stat,
                        const Site<double>&) = nullptr;
  void (*backward_row)(const StageData&, const TableGrad*, double stat, double delta,
                       const Params<double>&) = nullptr;
  std::array<const NormaliserOps*, kTargets> ops{};
};

/// A factor as a pointwise stage: w' = w * factor(at[, p]).
template <class F>
struct FactorStage {
  F functor;

  template <class V, class P>
  ATTN_FN V forward(V w, Site<V> at, const P& p) const {
    return w * call_factor(functor, at, p);
  }
};

/// The stage that a weight modifier becomes.
template <class F>
struct WeightStageOf {
  using type = F;
};
template <WeightFactor F>
struct WeightStageOf<F> {
  using type = FactorStage<F>;
};

}  // namespace attn
