#include "attn/kernels/args.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/params.hpp"
#include "attn/kernels/layout.hpp"
#include "kernels/check_view.hpp"

namespace attn {
namespace {

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

/// How sequences of different lengths are laid out.
template <class T>
void check_sequences(const char* where, const Layout<T>& in) {
  const auto& [q, k, v, packing, paging] = in;
  if (packing.q == nullptr && packing.k == nullptr) {
    if (paging.table == nullptr && k.shape[0] != q.shape[0])
      fail(where, ": q has batch ", q.shape[0], " and k has ", k.shape[0],
           "; expected the same");
  } else {
    if (packing.q == nullptr || packing.k == nullptr)
      fail(where, ": packing needs offsets of both queries and keys");
    if (packing.count < 0 || packing.count > kMaxExtent)
      fail(where, ": packing.count is ", packing.count, "; expected 0..", kMaxExtent);
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
    if (length < 0 || length > kMaxExtent ||
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

template <class T>
void check_inputs(const char* where, const Layout<T>& in, const Recipe& recipe) {
  const auto& [q, k, v, packing, paging] = in;
  check_extents(where, "q", q);
  check_extents(where, "k", k);
  check_extents(where, "v", v);
  if (q.shape[1] == 0 || k.shape[1] == 0)
    fail(where, ": ", q.shape[1], " heads and ", k.shape[1], " kv heads; at least one each");
  if (q.shape[1] % k.shape[1] != 0)
    fail(where, ": ", q.shape[1], " heads cannot share ", k.shape[1],
         " kv heads; heads must be a multiple of kv heads");
  if (k.shape[3] != q.shape[3])
    fail(where, ": q has ", q.shape[3], " channels and k has ", k.shape[3],
         "; expected the same");
  if (v.shape[0] != k.shape[0] || v.shape[1] != k.shape[1] || v.shape[2] != k.shape[2])
    fail(where, ": v has shape ", extents_text(v.shape), ", k ", extents_text(k.shape),
         "; expected the same but for the channels");
  if (recipe.similarity == Similarity::sum && q.shape[3] != 1)
    fail(where, ": the sum similarity takes 1 channel, q has ", q.shape[3]);
  check_sequences(where, in);
}

/// "table 0 of score modifier 1".
struct TableName {
  int slot;
  const char* what;
  std::size_t stage;

  friend std::ostream& operator<<(std::ostream& to, const TableName& name) {
    return to << "table " << name.slot << " of " << name.what << ' ' << name.stage;
  }
};

/// Tables hold f32, or f64 beside doubles (`wide`); `named` ends with "holds ".
template <class... Named>
void check_type(const char* where, bool wide, DType dtype, const Named&... named) {
  if (dtype != DType::f32 && !(wide && dtype == DType::f64))
    fail(where, ": ", named..., name_of(dtype), "; expected f32", wide ? " or f64" : "");
}

/// Batches, heads and the longest sequence's queries and keys.
struct Extents {
  std::int64_t batch, heads, queries, keys;

  template <class T>
  explicit Extents(const Layout<T>& in)
      : batch(in.sequences()),
        heads(in.heads()),
        queries(in.packing.q ? 0 : in.q.shape[2]),
        keys(in.packing.k || in.paging.table ? 0 : in.k.shape[2]) {
    for (int b = 0; b < batch; ++b) {
      queries = std::max<std::int64_t>(queries, in.queries(b));
      keys = std::max<std::int64_t>(keys, in.keys(b));
    }
  }
};

void check_table(const char* where, const TableName& name, const Table& table,
                 const Extents& problem, bool wide) {
  const auto& shape = table.shape;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (table.data == nullptr && !empty) fail(where, ": ", name, " has no data");
  check_type(where, wide, table.dtype, name, " holds ");
  const auto check_axis = [&](const char* axis, std::int64_t extent, std::int64_t needed) {
    if (extent != 1 && extent < needed)
      fail(where, ": ", name, " has shape ", extents_text(shape), "; its ", axis,
           " axis must be 1 or at least ", needed);
  };
  check_axis("batch", shape[0], problem.batch);
  check_axis("head", shape[1], problem.heads);
  check_axis("query", shape[2], problem.queries);
  for (const std::int64_t extent : shape)
    if (extent < 0) fail(where, ": ", name, " has shape ", extents_text(shape));
}

/// Tables must hold what a functor asks of them; it is asked at the corners of the scores.
void check_reach(const char* where, const char* what, std::size_t stage, const AnyScore& any,
                 const Extents& problem) {
  if (any.reach == nullptr || problem.queries == 0 || problem.keys == 0) return;
  TableReach reach;
  for (const std::int64_t q : {std::int64_t{0}, problem.queries - 1})
    for (const std::int64_t k : {std::int64_t{0}, problem.keys - 1})
      any.reach(any.data, {0, 0, static_cast<int>(q), static_cast<int>(k)}, reach);
  if (reach.slots > any.data.slots)
    fail(where, ": ", what, ' ', stage, " reads ", reach.slots, " tables; ", any.data.slots,
         " were given");
  for (int slot = 0; slot < reach.slots; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const std::int64_t entries = any.data.tables[at].shape[3];
    if (reach.low[at] < 0 || reach.high[at] >= entries)
      fail(where, ": ", TableName{slot, what, stage}, " has ", entries,
           " entries; the functor reads entries ", reach.low[at], " to ", reach.high[at]);
  }
}

void check_stages(const char* where, const Recipe& recipe, const Extents& problem,
                  std::int64_t kv_heads, std::int64_t channels, bool wide) {
  const auto check = [&](const char* what, std::size_t stage, const StageData& data) {
    for (int slot = 0; slot < data.slots; ++slot)
      check_table(where, {slot, what, stage}, data.tables[static_cast<std::size_t>(slot)],
                  problem, wide);
  };
  for (std::size_t i = 0; i < recipe.scores.size(); ++i) {
    check("score modifier", i, recipe.scores[i].data);
    check_reach(where, "score modifier", i, recipe.scores[i], problem);
  }
  for (std::size_t i = 0; i < recipe.weight_modifiers.size(); ++i) {
    check("weight modifier", i, recipe.weight_modifiers[i].stage.data);
    check_reach(where, "weight modifier", i, recipe.weight_modifiers[i].stage, problem);
  }
  check("normaliser", 0, recipe.normaliser.data);
  const Table& weights = recipe.weights;
  if (recipe.similarity == Similarity::additive && weights.data == nullptr)
    fail(where, ": the additive similarity needs weights [1, 1 or kv heads, 1, ", channels,
         ']');
  if (weights.data == nullptr) return;
  check_type(where, wide, weights.dtype, "the similarity's weights hold ");
  const bool one_allowed = recipe.similarity == Similarity::distance;
  const bool entries_fit =
      weights.shape[3] == channels || (one_allowed && weights.shape[3] == 1);
  if (weights.shape[0] != 1 || weights.shape[2] != 1 || !entries_fit ||
      (weights.shape[1] != 1 && weights.shape[1] != kv_heads))
    fail(where, ": the similarity's weights have shape ", extents_text(weights.shape),
         "; expected [1, 1 or ", kv_heads, ", 1, ", one_allowed ? "1 or " : "", channels, ']');
}

template <class S>
void check_similarities(const char* where, const View<S, 4>& view,
                        const std::array<std::int64_t, 4>& q, std::int64_t keys) {
  if (view.data == nullptr) return;
  check_extents(where, "similarities", view);
  if (!std::equal(q.begin(), q.end() - 1, view.shape.begin()) || view.shape[3] < keys)
    fail(where, ": similarities have shape ", extents_text(view.shape), "; expected [", q[0],
         ", ", q[1], ", ", q[2], ", ", keys, " or more]");
  if (view.shape[3] > 1 && view.strides[3] != 1)
    fail(where, ": similarities of one query lie ", view.strides[3],
         " elements apart; expected side by side");
}

template <class S>
void check_stat(const char* where, const char* name, const View<S, 3>& stat,
                const std::array<std::int64_t, 4>& q) {
  check_extents(where, name, stat);
  check_shape(where, name, stat.shape, std::array<std::int64_t, 3>{q[0], q[1], q[2]});
}

/// What forward and backward share.
template <class T, class Args>
void check_common(const char* where, const Layout<T>& in, const Args& args,
                  const Recipe& recipe) {
  check_inputs(where, in, recipe);
  check_extents(where, "out", args.out);
  const auto& q = in.q.shape;
  check_shape(where, "out", args.out.shape,
              std::array<std::int64_t, 4>{q[0], q[1], q[2], in.v.shape[3]});
  const Extents problem(in);
  check_similarities(where, args.similarities, q, problem.keys);
  check_stages(where, recipe, problem, in.k.shape[1], q[3], std::is_same_v<T, double>);
}

template <class T>
void check_weight_grads(const char* where, const BackwardArgs<T>& args) {
  if (args.packing.q != nullptr)
    fail<Unsupported>(where, ": gradients of the weights are not built for packed sequences");
  const auto& [all, columns, distances, offset] = args.d_weights;
  const auto& [b, h, n, channels] = args.q.shape;
  const std::int64_t m = args.k.shape[2];
  if (all.data != nullptr)
    check_shape(where, "d_weights.all", all.shape, std::array<std::int64_t, 4>{b, h, n, m});
  if (columns.data != nullptr)
    check_shape(where, "d_weights.column_sums", columns.shape,
                std::array<std::int64_t, 3>{b, h, m});
  const std::array<std::int64_t, 4> rows{b, h, n, distances.shape[3]};
  if (distances.data != nullptr && (distances.shape != rows || distances.shape[3] % 2 == 0))
    fail(where, ": d_weights.distance_sums has shape ", extents_text(distances.shape),
         "; expected [", b, ", ", h, ", ", n, ", 2 m + 1]");
}

void check_grad(const char* where, const TableName& name, const TableGrad& grad,
                const StageData& data, bool wide) {
  if (grad.data == nullptr) return;
  if (name.slot >= data.slots)
    fail(where, ": a gradient is wanted for ", name, ", which has ", data.slots);
  const Table& table = data.tables[static_cast<std::size_t>(name.slot)];
  if (grad.shape != table.shape)
    fail(where, ": the gradient of ", name, " has shape ", extents_text(grad.shape),
         "; expected ", extents_text(table.shape));
  check_type(where, wide, grad.dtype, "the gradient of ", name, " holds ");
}

void check_table_grads(const char* where, const Recipe& recipe, const RecipeGrads& grads,
                       bool wide) {
  if (grads.scores.size() > recipe.scores.size() ||
      grads.weight_modifiers.size() > recipe.weight_modifiers.size())
    fail(where, ": gradients for ", grads.scores.size(), " score and ",
         grads.weight_modifiers.size(), " weight modifiers; the recipe has ",
         recipe.scores.size(), " and ", recipe.weight_modifiers.size());
  const auto check = [&](const char* what, std::size_t stage, const auto& slots,
                         const StageData& data) {
    for (int slot = 0; slot < kMaxTables; ++slot)
      check_grad(where, {slot, what, stage}, slots[static_cast<std::size_t>(slot)], data, wide);
  };
  for (std::size_t i = 0; i < grads.scores.size(); ++i)
    check("score modifier", i, grads.scores[i], recipe.scores[i].data);
  for (std::size_t i = 0; i < grads.weight_modifiers.size(); ++i)
    check("weight modifier", i, grads.weight_modifiers[i],
          recipe.weight_modifiers[i].stage.data);
  check("normaliser", 0, grads.normaliser, recipe.normaliser.data);
  if (grads.weights.data == nullptr) return;
  if (recipe.weights.data == nullptr)
    fail(where, ": a gradient is wanted for the similarity's weights, which it lacks");
  check_shape(where, "the gradient of the similarity's weights", grads.weights.shape,
              recipe.weights.shape);
  check_type(where, wide, grads.weights.dtype,
             "the gradient of the similarity's weights holds ");
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
  check_common(kWhere, Layout<T>(args), args, recipe);
  if (args.stat.data != nullptr) check_stat(kWhere, "stat", args.stat, args.q.shape);
  if (args.similarities.data != nullptr && args.paging.table != nullptr)
    fail(kWhere, ": similarities are kept for a backward, which pages do not have");
}

template <class T>
void validate(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads) {
  constexpr const char* kWhere = "attn::backward";
  check_common(kWhere, Layout<T>(args), args, recipe);
  check_stat(kWhere, "stat", args.stat, args.q.shape);
  if (args.d_stat.data != nullptr) check_stat(kWhere, "d_stat", args.d_stat, args.q.shape);
  const auto check_like = [&](const char* name, const auto& view, const char* other,
                              const auto& like) {
    check_extents(kWhere, name, view);
    if (view.shape != like.shape)
      fail(kWhere, ": ", name, " has shape ", extents_text(view.shape), "; expected that of ",
           other, ", ", extents_text(like.shape));
  };
  check_like("d_out", args.d_out, "out", args.out);
  if (args.dq.data != nullptr) check_like("dq", args.dq, "q", args.q);
  if (args.dk.data != nullptr) check_like("dk", args.dk, "k", args.k);
  if (args.dv.data != nullptr) check_like("dv", args.dv, "v", args.v);
  if (args.d_weights.given()) check_weight_grads(kWhere, args);
  check_table_grads(kWhere, recipe, grads, std::is_same_v<T, double>);
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
