/// Problem: an attention problem drawn at random — sizes, layouts, numbers and a recipe out of
/// every stage there is — and made smaller when it fails.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/cpu/tiles.hpp"
#include "kernels/support/strided.hpp"

namespace attn::test {

enum class ScoreKind {
  scale,
  learned_scale,
  soft_cap,
  alibi,
  relative,
  t5,
  gaussian,
  learned_gaussian,
  bias,
  prior,
  program
};
enum class MaskKind {
  none,
  causal,
  causal_top_left,
  window,
  prefix,
  lengths,
  query_lengths,
  documents,
  dilated,
  block_sparse,
  dense
};
enum class NormaliserKind {
  softmax,
  sink,
  identity,
  mean,
  sigmoid,
  summed_sigmoid,
  hard_max,
  hard_sample,
  sparsemax
};
enum class FactorKind { dropout, local_gaussian, scale_weight, program };
/// Which axes of a table have entries of their own.
enum class Sharing { all, per_head, per_sequence, per_query, query_only, dense };
/// What the weights of the distance similarity are.
enum class WidthKind { none, scalar, channel };

inline constexpr int kScoreKinds = 11;
inline constexpr int kMaskKinds = 11;
inline constexpr int kNormaliserKinds = 9;
inline constexpr int kFactorKinds = 4;
inline constexpr int kSharings = 6;

struct ScoreSpec {
  ScoreKind kind = ScoreKind::scale;
  Sharing sharing = Sharing::all;
};
struct FactorSpec {
  FactorKind kind = FactorKind::dropout;
  Sharing sharing = Sharing::all;
};
struct MaskSpec {
  MaskTree::Kind kind = MaskTree::Kind::leaf;
  MaskKind leaf = MaskKind::causal;
  std::vector<MaskSpec> children{};
};

/// Everything that a problem is made from; the same spec makes the same problem.
struct Spec {
  std::string seed = "problem";  ///< of all numbers
  int batch = 1;
  int kv_heads = 1;
  int group = 1;
  int queries = 4;
  int keys = 5;
  int channels = 3;
  int value_channels = 2;
  DType dtype = DType::f32;
  Lay q_lay = Lay::packed;
  Lay kv_lay = Lay::packed;
  Lay out_lay = Lay::packed;  ///< of the outputs of forward and backward
  bool wide_tables = false;   ///< entries of tables lie two apart
  Similarity similarity = Similarity::dot;
  WidthKind width = WidthKind::none;
  bool weights_per_head = false;
  std::vector<ScoreSpec> scores{};
  std::vector<MaskSpec> masks{};
  NormaliserKind normaliser = NormaliserKind::softmax;
  std::vector<FactorSpec> factors{};
  bool d_stat = false;
  bool keep = false;  ///< the similarities, for the backward
  bool d_weights = false;

  int heads() const { return kv_heads * group; }
  bool has_lse() const {
    return normaliser == NormaliserKind::softmax || normaliser == NormaliserKind::sink;
  }
};

std::string describe(const Spec& spec);

/// Numbers in a tensor of this shape.
std::size_t elements(const Shape& shape);

/// Where a table of the recipe is.
struct TablePlace {
  enum class Stage { similarity, score, normaliser, factor };
  Stage stage = Stage::similarity;
  int index = 0;
  int slot = 0;
};

/// A table in float and in double, the same numbers.
struct TestTable {
  TablePlace place;
  Shape shape{1, 1, 1, 1};
  std::int64_t spacing = 1;  ///< elements between entries
  std::vector<float> f32;
  std::vector<double> f64;

  Table as(DType dtype) const;
  TableGrad grad(void* data, DType dtype) const;
};

/// A spec come to life. Numbers are packed and hold what the dtype can hold.
struct Problem {
  Spec spec;
  std::vector<double> q, k, v, d_out, d_stat, d_all, d_columns, d_distances;
  int distance_reach = 0;
  int distance_offset = 0;
  std::deque<TestTable> tables;
  std::deque<std::vector<int>> numbers;          ///< of masks and T5 buckets
  std::deque<std::vector<unsigned char>> flags;  ///< of masks
  Recipe recipe;                                 ///< with the tables in float

  explicit Problem(const Spec& from);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// The recipe with the tables in double.
  Recipe exact() const;
  Shape q_shape() const;
  Shape k_shape() const;
  Shape v_shape() const;
  Shape out_shape() const;
  Shape weights_shape() const;  ///< [batch, heads, queries, keys]
};

/// Past the borders of the kernels' tiles.
inline constexpr int kManyKeys = cpu::kTileCols + 37;
inline constexpr int kManyQueries = cpu::kTileRows * cpu::kRowTiles + 17;
static_assert(kManyKeys > cpu::kBackwardCols && kManyQueries > cpu::kBackwardRows);

/// How large the drawn problems are.
enum class Size { tiny, mixed };

/// Draws a spec of every stage.
Spec draw_spec(const std::string& seed, Size size);

/// What is wrong with a problem, in words; empty if nothing is.
using Property = std::function<std::string(const Problem&)>;

/// Holds the property against `count` drawn problems. A failing one is made smaller as long as
/// it fails, and reported.
void check_property(std::string_view name, int count, Size size, const Property& property,
                    const std::function<void(Spec&)>& adjust = {});

/// Holds the property against one spec, with the same report.
void check_spec(const Spec& spec, const Property& property);

/// What `got` is off from `want` by, relative to 1 + the largest |want|; empty if that is no
/// more than `within`. NaN and infinities must agree.
std::string difference(std::string_view name, const std::vector<double>& got,
                       const std::vector<double>& want, double within);

}  // namespace attn::test
