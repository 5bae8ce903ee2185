#include "tensor/attend_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend_recipe.hpp"
#include "tensor/attend_sizes.hpp"
#include "tensor/gpu/pairs.hpp"
#include "tensor/ops/additive_scores.hpp"

namespace attn::op {
namespace {

constexpr const char* kWhere = "attn::attend";

/// x [batch, kv_heads, ...] once for each of the heads that share it.
Tensor for_heads(const Tensor& x, std::int64_t heads) {
  const std::int64_t own = x.size(1);
  if (own == heads) return x;
  return x.unsqueeze(2)
      .expand({x.size(0), own, heads / own, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

/// -1/2 |(q - k) w|^2 = q' . k' - |q'|^2 / 2 - |k'|^2 / 2 with q' = q w and k' = k w.
Tensor distance(const Tensor& q, const Tensor& k, const Tensor& w) {
  const Tensor a = w.defined() ? q * w : q;
  const Tensor b = w.defined() ? k * w : k;
  const Tensor a_norm = sum(square(a), 3, Axis::keep);
  const Tensor b_norm = sum(square(b), 3, Axis::keep).transpose(2, 3);
  return matmul(a, b.transpose(2, 3)) - (a_norm + b_norm) * 0.5;
}

/// [batch, heads, queries, keys], before the recipe's scale. `w`: its weights, or none.
Tensor similarities(const Tensor& q, const Tensor& k, const Tensor& w, const Recipe& recipe,
                    const spec::Problem& p) {
  switch (recipe.similarity) {
    case Similarity::dot:
      return matmul(q, k.transpose(2, 3));
    case Similarity::additive:
      return additive_scores(q, k, w.expand({1, p.heads, 1, p.channels}));
    case Similarity::distance:
      return distance(q, k, w);
    case Similarity::sum:
      return q + k.transpose(2, 3);
    case Similarity::given:
      return Tensor::zeros({p.batch, p.heads, p.queries, p.keys}, DType::f32, Device::gpu);
    case Similarity::cosine:
      break;
  }
  fail<Unsupported>(kWhere, ": the cosine similarity is not built on the gpu");
}

/// Modifiers and masks as an op: s and the tables in, -inf where a pair is left out.
Tensor scores(const Tensor& s, const std::shared_ptr<const BoundRecipe>& recipe,
              const std::vector<Tensor>& tables) {
  const Tensor packed = s.detach().contiguous();
  Tensor out = Tensor::empty(s.shape(), DType::f32, Device::gpu);
  gpu::score_pairs(recipe->recipe(), packed, out);
  std::vector<Tensor> inputs{s};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  std::vector<Shape> shapes;
  shapes.reserve(tables.size());
  for (const Tensor& table : tables) shapes.push_back(table.shape());
  const bool weighted = recipe->recipe().weights.data != nullptr;
  record("attend", inputs, {&out, 1},
         [recipe, shapes, weighted, saved = Saved(packed)](const Gradients& grads,
                                                           const Needs& needs) -> Gradients {
           Gradients down(shapes.size() + 1);
           std::vector<Tensor> d_tables(shapes.size());
           for (std::size_t i = 0; i < shapes.size(); ++i) {
             // The similarity's own weights get theirs from the similarity.
             if (needs[i + 1] && !(weighted && i == 0))
               d_tables[i] = down[i + 1] = Tensor::empty(shapes[i], DType::f32, Device::gpu);
           }
           down[0] = Tensor::empty(saved.get().shape(), DType::f32, Device::gpu);
           gpu::score_pairs_backward(recipe->recipe(), recipe->grads_into(d_tables),
                                     saved.get(), grads[0].contiguous(), down[0]);
           return down;
         });
  return out;
}

}  // namespace

bool needs_matrix(const Recipe& recipe, const Want& want, DType storage) {
  if (want.has(Want::weights) || want.has(Want::column_sums) || want.has(Want::arg_max))
    return true;
  if (recipe.similarity == Similarity::dot) return false;
  return recipe.similarity != Similarity::additive || storage != DType::f32;
}

Attended attend_by_matrix(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttendSizes& sizes,
                          const std::shared_ptr<const BoundRecipe>& recipe,
                          const std::vector<Tensor>& tables, const Want& want) {
  const spec::Problem& p = sizes.problem;
  if (p.dtype != DType::f32 || want.has(Want::log_sum_exp) || want.reach() >= 0 ||
      want.top_count() >= 0)
    fail<Unsupported>(
        kWhere,
        ": on the gpu weights, column_sums and arg_max are built, in f32 and "
        "16-bit types and without log_sum_exp, distance_sums and top beside them");
  const auto wide = [&](const Tensor& x, std::int64_t heads) {
    const Tensor four = x.rank() == 4 ? x : x.unsqueeze(1);
    return for_heads(four.to(DType::f32), heads);
  };
  const bool has_keys = q.defined();
  const Tensor w = recipe->recipe().weights.data != nullptr
                       ? for_heads(tables.front(), tables.front().size(1) == 1 ? 1 : p.heads)
                       : Tensor();
  const Tensor s = similarities(has_keys ? wide(q, p.heads) : q,
                                has_keys ? wide(k, p.heads) : k, w, recipe->recipe(), p);
  Tensor weights = softmax(scores(s, recipe, tables));
  if (!recipe->recipe().factors.empty()) {
    const Tensor factors = Tensor::empty(weights.shape(), DType::f32, Device::gpu);
    gpu::weight_factors(recipe->recipe(), factors);
    weights = weights * factors;
  }
  const auto given = [&](const Tensor& x) { return sizes.has_heads ? x : x.squeeze(1); };
  Attended result;
  if (want.has(Want::output))
    result.output = given(matmul(weights, wide(v, p.heads)).to(sizes.storage));
  if (want.has(Want::weights)) result.weights = given(weights);
  if (want.has(Want::column_sums)) result.column_sums = given(sum(weights, 2));
  if (want.has(Want::arg_max)) {
    const NoGrad off_the_tape;
    // -1 where no weight is above 0. Doubles hold every place.
    const Maximum most = max(weights, 3);
    const Tensor place = most.indices.to(DType::f64);
    result.arg_max =
        given(keep_where(place, most.values.to(DType::boolean), -1.0).to(DType::i64));
  }
  return result;
}

}  // namespace attn::op
