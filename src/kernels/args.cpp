#include "attn/kernels/args.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"

namespace attn {
namespace {

/// Positions are 32-bit inside the kernels, with room to add offsets.
constexpr std::int64_t kMaxLength = std::int64_t{1} << 30;

template <class Shape>
std::string text(const Shape& shape) {
  std::ostringstream out;
  out << '[';
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    out << (axis == 0 ? "" : ", ") << shape[axis];
  out << ']';
  return out.str();
}

/// A view must have sane extents, and data if it has elements.
template <class T, int kRank>
void check_view(const char* where, const char* name, const View<T, kRank>& view) {
  std::int64_t size = 1;
  for (const std::int64_t extent : view.shape) {
    if (extent < 0 || extent > kMaxLength)
      fail(where, ": ", name, " has shape ", text(view.shape), "; extents must lie in 0..",
           kMaxLength);
    if (extent != 0 && size > std::numeric_limits<std::int64_t>::max() / 16 / extent)
      fail(where, ": ", name, " has shape ", text(view.shape),
           ", more elements than memory can hold");
    size *= extent;
  }
  if (size > 0 && view.data == nullptr)
    fail(where, ": ", name, " has shape ", text(view.shape), " but no data");
}

template <class A, class B>
void check_same(const char* where, const char* name, const A& view, const char* other,
                const B& like) {
  if (view.shape != like.shape)
    fail(where, ": ", name, " has shape ", text(view.shape), "; expected that of ", other, ", ",
         text(like.shape));
}

void check_offsets(const char* where, const char* name, const std::int64_t* offsets,
                   std::int64_t count, std::int64_t total) {
  if (offsets[0] != 0)
    fail(where, ": packing.", name, " starts at ", offsets[0], "; expected 0");
  for (std::int64_t b = 0; b < count; ++b)
    if (offsets[b + 1] < offsets[b])
      fail(where, ": packing.", name, " falls from ", offsets[b], " to ", offsets[b + 1],
           " at sequence ", b, "; offsets must not fall");
  if (offsets[count] > total)
    fail(where, ": packing.", name, " ends at ", offsets[count], ", beyond the ", total,
         " rows of the view");
}

/// Shapes of q, k and v, and how sequences are laid out.
template <class T>
void check_inputs(const char* where, const View<const T, 4>& q, const View<const T, 4>& k,
                  const View<const T, 4>& v, const Packing& packing, const Paging& paging,
                  const Recipe& recipe) {
  check_view(where, "q", q);
  check_view(where, "k", k);
  check_view(where, "v", v);
  if (q.shape[1] == 0 || k.shape[1] == 0)
    fail(where, ": ", q.shape[1], " heads and ", k.shape[1], " kv heads; at least one each");
  if (q.shape[1] % k.shape[1] != 0)
    fail(where, ": ", q.shape[1], " heads cannot share ", k.shape[1],
         " kv heads; heads must be a multiple of kv heads");
  if (k.shape[3] != q.shape[3])
    fail(where, ": q has ", q.shape[3], " channels and k has ", k.shape[3],
         "; expected the same");
  if (v.shape[0] != k.shape[0] || v.shape[1] != k.shape[1] || v.shape[2] != k.shape[2])
    fail(where, ": v has shape ", text(v.shape), ", k ", text(k.shape),
         "; expected the same but for the channels");
  if (recipe.similarity == Similarity::sum && q.shape[3] != 1)
    fail(where, ": the sum similarity takes 1 channel, q has ", q.shape[3]);
  if (packing.q == nullptr && packing.k == nullptr) {
    if (paging.table == nullptr && k.shape[0] != q.shape[0])
      fail(where, ": q has batch ", q.shape[0], " and k has ", k.shape[0],
           "; expected the same");
  } else {
    if (packing.q == nullptr || packing.k == nullptr)
      fail(where, ": packing needs offsets of both queries and keys");
    if (packing.count < 0 || packing.count > kMaxLength)
      fail(where, ": packing.count is ", packing.count, "; expected 0..", kMaxLength);
    if (paging.table != nullptr) fail(where, ": packing and paging exclude each other");
    if (q.shape[0] != 1 || k.shape[0] != 1)
      fail(where, ": packed sequences lie in one batch; q has ", q.shape[0], " and k has ",
           k.shape[0]);
    check_offsets(where, "q", packing.q, packing.count, q.shape[2]);
    check_offsets(where, "k", packing.k, packing.count, k.shape[2]);
  }
  if (paging.table == nullptr) return;
  if (paging.lengths == nullptr) fail(where, ": paging needs the lengths of the sequences");
  const std::int64_t page_size = k.shape[2];
  if (page_size < 1) fail(where, ": pages hold ", page_size, " keys; at least one is needed");
  for (std::int64_t b = 0; b < q.shape[0]; ++b) {
    const std::int64_t length = paging.lengths[b];
    if (length < 0 || length > kMaxLength ||
        (length + page_size - 1) / page_size > paging.stride)
      fail(where, ": sequence ", b, " has ", length, " keys; its ", paging.stride,
           " table entries hold 0..", paging.stride * page_size);
    for (std::int64_t p = 0; p * page_size < length; ++p) {
      const std::int32_t page = paging.table[b * paging.stride + p];
      if (page < 0 || page >= k.shape[0])
        fail(where, ": page table entry ", p, " of sequence ", b, " is ", page,
             "; there are pages 0..", k.shape[0] - 1);
    }
  }
}

void check_extent(const char* where, const char* what, std::size_t stage, int slot,
                  const std::array<std::int64_t, 4>& shape,
                  const std::array<std::int64_t, 3>& problem) {
  static constexpr std::array<const char*, 3> kAxes{"batch", "head", "query"};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (shape[axis] != 1 && shape[axis] < problem[axis])
      fail(where, ": table ", slot, " of ", what, ' ', stage, " has shape ", text(shape),
           "; its ", kAxes[axis], " axis must be 1 or at least ", problem[axis]);
  for (const std::int64_t extent : shape)
    if (extent < 0)
      fail(where, ": table ", slot, " of ", what, ' ', stage, " has shape ", text(shape));
}

void check_table(const char* where, const char* what, std::size_t stage, int slot,
                 const Table& table, const std::array<std::int64_t, 3>& problem, bool wide) {
  const bool empty = std::find(table.shape.begin(), table.shape.end(), 0) != table.shape.end();
  if (table.data == nullptr && !empty)
    fail(where, ": table ", slot, " of ", what, ' ', stage, " has no data");
  if (table.dtype != DType::f32 && !(wide && table.dtype == DType::f64))
    fail(where, ": table ", slot, " of ", what, ' ', stage, " holds ", name_of(table.dtype),
         "; expected f32", wide ? " or f64" : "");
  check_extent(where, what, stage, slot, table.shape, problem);
}

/// Tables must hold what a functor asks of them; it is asked at the corners of the scores.
void check_reach(const char* where, const char* what, std::size_t stage, const AnyScore& any,
                 std::int64_t queries, std::int64_t keys) {
  if (any.reach == nullptr || queries == 0 || keys == 0) return;
  TableReach reach;
  for (const std::int64_t q : {std::int64_t{0}, queries - 1})
    for (const std::int64_t k : {std::int64_t{0}, keys - 1})
      any.reach(any.data, {0, 0, static_cast<int>(q), static_cast<int>(k)}, reach);
  if (reach.slots > any.data.slots)
    fail(where, ": ", what, ' ', stage, " reads ", reach.slots, " tables; ", any.data.slots,
         " were given");
  for (int slot = 0; slot < reach.slots; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (reach.low[at] < 0 || reach.high[at] >= any.data.tables[at].shape[3])
      fail(where, ": table ", slot, " of ", what, ' ', stage, " has ",
           any.data.tables[at].shape[3], " entries; the functor reads entries ", reach.low[at],
           " to ", reach.high[at]);
  }
}

/// Keys of the longest sequence.
template <class T>
std::int64_t longest_keys(const View<const T, 4>& q, const View<const T, 4>& k,
                          const Packing& packing, const Paging& paging) {
  std::int64_t longest = 0;
  if (packing.k != nullptr) {
    for (std::int64_t b = 0; b < packing.count; ++b)
      longest = std::max(longest, packing.k[b + 1] - packing.k[b]);
  } else if (paging.table != nullptr) {
    for (std::int64_t b = 0; b < q.shape[0]; ++b)
      longest = std::max(longest, paging.lengths[b]);
  } else {
    longest = k.shape[2];
  }
  return longest;
}

void check_reaches(const char* where, const Recipe& recipe, std::int64_t queries,
                   std::int64_t keys) {
  for (std::size_t i = 0; i < recipe.scores.size(); ++i)
    check_reach(where, "score modifier", i, recipe.scores[i], queries, keys);
  for (std::size_t i = 0; i < recipe.factors.size(); ++i)
    check_reach(where, "weight modifier", i, recipe.factors[i].stage, queries, keys);
}

void check_stages(const char* where, const Recipe& recipe,
                  const std::array<std::int64_t, 3>& problem, std::int64_t kv_heads,
                  std::int64_t channels, bool wide) {
  const auto check = [&](const char* what, std::size_t index, const StageData& data) {
    for (int slot = 0; slot < data.slots; ++slot)
      check_table(where, what, index, slot, data.tables[static_cast<std::size_t>(slot)],
                  problem, wide);
  };
  for (std::size_t i = 0; i < recipe.scores.size(); ++i)
    check("score modifier", i, recipe.scores[i].data);
  for (std::size_t i = 0; i < recipe.factors.size(); ++i)
    check("weight modifier", i, recipe.factors[i].stage.data);
  check("normaliser", 0, recipe.normaliser.data);
  const Table& weights = recipe.weights;
  if (recipe.similarity == Similarity::additive && weights.data == nullptr)
    fail(where, ": the additive similarity needs weights [1, 1 or kv heads, 1, ", channels,
         ']');
  if (weights.data == nullptr) return;
  if (weights.dtype != DType::f32 && !(wide && weights.dtype == DType::f64))
    fail(where, ": the similarity's weights hold ", name_of(weights.dtype), "; expected f32",
         wide ? " or f64" : "");
  const bool one_allowed = recipe.similarity == Similarity::distance;
  const bool entries_fit =
      weights.shape[3] == channels || (one_allowed && weights.shape[3] == 1);
  if (weights.shape[0] != 1 || weights.shape[2] != 1 || !entries_fit ||
      (weights.shape[1] != 1 && weights.shape[1] != kv_heads))
    fail(where, ": the similarity's weights have shape ", text(weights.shape),
         "; expected [1, 1 or ", kv_heads, ", 1, ", one_allowed ? "1 or " : "", channels, ']');
}

template <class T>
std::array<std::int64_t, 3> problem_of(const View<const T, 4>& q, const Packing& packing) {
  if (packing.q == nullptr) return {q.shape[0], q.shape[1], q.shape[2]};
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < packing.count; ++b)
    longest = std::max(longest, packing.q[b + 1] - packing.q[b]);
  return {packing.count, q.shape[1], longest};
}

template <class T, class S>
void check_stat(const char* where, const char* name, const View<S, 3>& stat,
                const View<const T, 4>& q) {
  check_view(where, name, stat);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (stat.shape[axis] != q.shape[axis])
      fail(where, ": ", name, " has shape ", text(stat.shape), "; expected [", q.shape[0], ", ",
           q.shape[1], ", ", q.shape[2], ']');
}

template <class S>
void check_similarities(const char* where, const View<S, 4>& kept,
                        const std::array<std::int64_t, 3>& rows, std::int64_t keys) {
  if (kept.data == nullptr) return;
  check_view(where, "similarities", kept);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (kept.shape[axis] != rows[axis] || kept.shape[3] < keys)
      fail(where, ": similarities have shape ", text(kept.shape), "; expected [", rows[0], ", ",
           rows[1], ", ", rows[2], ", ", keys, " or more]");
  if (kept.shape[3] > 1 && kept.strides[3] != 1)
    fail(where, ": similarities of one query lie ", kept.strides[3],
         " elements apart; expected side by side");
}

template <class T>
void check_weight_grads(const char* where, const BackwardArgs<T>& args) {
  if (args.packing.q != nullptr)
    fail<Unsupported>(where, ": gradients of the weights are not built for packed sequences");
  const auto& [all, columns, distances, offset] = args.d_weights;
  const std::int64_t b = args.q.shape[0];
  const std::int64_t h = args.q.shape[1];
  const std::int64_t n = args.q.shape[2];
  const std::int64_t m = args.k.shape[2];
  const std::array<std::int64_t, 4> scores{b, h, n, m};
  if (all.data != nullptr && all.shape != scores)
    fail(where, ": d_weights.all has shape ", text(all.shape), "; expected ", text(scores));
  const std::array<std::int64_t, 3> keys{b, h, m};
  if (columns.data != nullptr && columns.shape != keys)
    fail(where, ": d_weights.column_sums has shape ", text(columns.shape), "; expected ",
         text(keys));
  const std::array<std::int64_t, 4> rows{b, h, n, distances.shape[3]};
  if (distances.data != nullptr && (distances.shape != rows || distances.shape[3] % 2 == 0))
    fail(where, ": d_weights.distance_sums has shape ", text(distances.shape), "; expected [",
         b, ", ", h, ", ", n, ", 2 m + 1]");
}

void check_grads(const char* where, const char* what, std::size_t stage,
                 const std::array<TableGrad, kMaxTables>& grads, const StageData& data,
                 bool wide) {
  for (int slot = 0; slot < kMaxTables; ++slot) {
    const TableGrad& grad = grads[static_cast<std::size_t>(slot)];
    if (grad.data == nullptr) continue;
    if (slot >= data.slots)
      fail(where, ": a gradient is wanted for table ", slot, " of ", what, ' ', stage,
           ", which has ", data.slots);
    const Table& table = data.tables[static_cast<std::size_t>(slot)];
    if (grad.shape != table.shape)
      fail(where, ": the gradient of table ", slot, " of ", what, ' ', stage, " has shape ",
           text(grad.shape), "; expected ", text(table.shape));
    if (grad.dtype != DType::f32 && !(wide && grad.dtype == DType::f64))
      fail(where, ": the gradient of table ", slot, " of ", what, ' ', stage, " holds ",
           name_of(grad.dtype), "; expected f32", wide ? " or f64" : "");
  }
}

}  // namespace

bool RecipeGrads::wants_scores() const {
  RecipeGrads alone;
  alone.scores = scores;
  return alone.wants_any();
}
bool RecipeGrads::wants_any() const {
  bool any = false;
  for_each([&](const TableGrad&) { any = true; });
  return any;
}
void RecipeGrads::clear() const {
  for_each([](const TableGrad& grad) {
    const auto& [batch, heads, queries, entries] = grad.shape;
    for (int b = 0; b < batch; ++b)
      for (int h = 0; h < heads; ++h)
        for (int q = 0; q < queries; ++q)
          for (std::int64_t c = 0; c < entries; ++c) {
            const std::int64_t place = row_offset(grad, b, h, q) + c * grad.strides[3];
            if (grad.dtype == DType::f64) {
              static_cast<double*>(grad.data)[place] = 0.0;
            } else {
              static_cast<float*>(grad.data)[place] = 0.0f;
            }
          }
  });
}

template <class T>
void validate(const ForwardArgs<T>& args, const Recipe& recipe) {
  constexpr const char* kWhere = "attn::forward";
  constexpr bool kWide = std::is_same_v<T, double>;
  check_inputs(kWhere, args.q, args.k, args.v, args.packing, args.paging, recipe);
  check_view(kWhere, "out", args.out);
  const std::array<std::int64_t, 4> expected{args.q.shape[0], args.q.shape[1], args.q.shape[2],
                                             args.v.shape[3]};
  if (args.out.shape != expected)
    fail(kWhere, ": out has shape ", text(args.out.shape), "; expected ", text(expected));
  if (args.stat.data != nullptr) check_stat<T>(kWhere, "stat", args.stat, args.q);
  const std::int64_t keys = longest_keys(args.q, args.k, args.packing, args.paging);
  if (args.similarities.data != nullptr && args.paging.table != nullptr)
    fail(kWhere, ": similarities are kept for a backward, which pages do not have");
  check_similarities(kWhere, args.similarities,
                     {args.q.shape[0], args.q.shape[1], args.q.shape[2]}, keys);
  check_stages(kWhere, recipe, problem_of(args.q, args.packing), args.k.shape[1],
               args.q.shape[3], kWide);
  check_reaches(kWhere, recipe, problem_of(args.q, args.packing)[2], keys);
}

template <class T>
void validate(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads) {
  constexpr const char* kWhere = "attn::backward";
  constexpr bool kWide = std::is_same_v<T, double>;
  check_inputs(kWhere, args.q, args.k, args.v, args.packing, {}, recipe);
  check_view(kWhere, "out", args.out);
  check_view(kWhere, "d_out", args.d_out);
  const std::array<std::int64_t, 4> expected{args.q.shape[0], args.q.shape[1], args.q.shape[2],
                                             args.v.shape[3]};
  if (args.out.shape != expected)
    fail(kWhere, ": out has shape ", text(args.out.shape), "; expected ", text(expected));
  check_same(kWhere, "d_out", args.d_out, "out", args.out);
  check_stat<T>(kWhere, "stat", args.stat, args.q);
  if (args.d_stat.data != nullptr) check_stat<T>(kWhere, "d_stat", args.d_stat, args.q);
  const auto check_grad = [&](const char* name, const auto& view, const char* like,
                              const auto& other) {
    if (view.data == nullptr) return;
    check_view(kWhere, name, view);
    check_same(kWhere, name, view, like, other);
  };
  check_grad("dq", args.dq, "q", args.q);
  check_grad("dk", args.dk, "k", args.k);
  check_grad("dv", args.dv, "v", args.v);
  if (args.d_weights.given()) check_weight_grads(kWhere, args);
  check_stages(kWhere, recipe, problem_of(args.q, args.packing), args.k.shape[1],
               args.q.shape[3], kWide);
  const std::int64_t keys = longest_keys(args.q, args.k, args.packing, {});
  check_similarities(kWhere, args.similarities,
                     {args.q.shape[0], args.q.shape[1], args.q.shape[2]}, keys);
  check_reaches(kWhere, recipe, problem_of(args.q, args.packing)[2], keys);
  if (grads.scores.size() > recipe.scores.size() ||
      grads.factors.size() > recipe.factors.size())
    fail(kWhere, ": gradients for ", grads.scores.size(), " score and ", grads.factors.size(),
         " weight modifiers; the recipe has ", recipe.scores.size(), " and ",
         recipe.factors.size());
  for (std::size_t i = 0; i < grads.scores.size(); ++i)
    check_grads(kWhere, "score modifier", i, grads.scores[i], recipe.scores[i].data, kWide);
  for (std::size_t i = 0; i < grads.factors.size(); ++i)
    check_grads(kWhere, "weight modifier", i, grads.factors[i], recipe.factors[i].stage.data,
                kWide);
  check_grads(kWhere, "normaliser", 0, grads.normaliser, recipe.normaliser.data, kWide);
  if (grads.weights.data == nullptr) return;
  if (recipe.weights.data == nullptr)
    fail(kWhere, ": a gradient is wanted for the similarity's weights, which it lacks");
  if (grads.weights.shape != recipe.weights.shape)
    fail(kWhere, ": the gradient of the similarity's weights has shape ",
         text(grads.weights.shape), "; expected ", text(recipe.weights.shape));
  if (grads.weights.dtype != DType::f32 && !(kWide && grads.weights.dtype == DType::f64))
    fail(kWhere, ": the gradient of the similarity's weights holds ",
         name_of(grads.weights.dtype), "; expected f32", kWide ? " or f64" : "");
}

// clang-format off
template void validate(const ForwardArgs<double>&, const Recipe&);
template void validate(const ForwardArgs<float>&, const Recipe&);
template void validate(const ForwardArgs<BFloat16>&, const Recipe&);
template void validate(const ForwardArgs<Float16>&, const Recipe&);
template void validate(const BackwardArgs<double>&, const Recipe&, const RecipeGrads&);
template void validate(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&);
template void validate(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&);
template void validate(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&);
// clang-format on

}  // namespace attn
