#include "tensor/attend/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/recipe.hpp"
#include "tensor/attend/sizes.hpp"
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

/// What is not finite becomes 0: x - x is 0 for finite numbers alone.
Tensor finite(const Tensor& x) {
  return keep_where(x, logical_not((x - x).to(DType::boolean)));
}

/// q . k of each pair. What a mask hides may be NaN, and meets gradients of 0 on the way back.
Tensor products(const Tensor& q, const Tensor& k) {
  Tensor out;
  {
    const NoGrad off_the_tape;
    out = matmul(q, k.transpose(2, 3));
  }
  return record("attend", {q, k}, out,
                [x = Saved(q.detach()), y = Saved(k.detach())](
                    const Gradients& grads, const Needs& needs) -> Gradients {
                  Gradients down(2);
                  if (needs[0]) down[0] = matmul(grads[0], finite(y.get()));
                  if (needs[1]) down[1] = matmul(grads[0].transpose(2, 3), finite(x.get()));
                  return down;
                });
}

/// weights . v, where what has no weight is not looked at. A weight of 0 passes no gradient on:
/// softmax would multiply it by that weight.
Tensor pooled(const Tensor& weights, const Tensor& v) {
  Tensor out;
  {
    const NoGrad off_the_tape;
    out = matmul(weights, v);
    gpu::pool_again(weights.detach().contiguous(), v.detach().contiguous(), out);
  }
  return record("attend", {weights, v}, out,
                [w = Saved(weights.detach()), x = Saved(v.detach())](
                    const Gradients& grads, const Needs& needs) -> Gradients {
                  Gradients down(2);
                  if (needs[0])
                    down[0] = keep_where(matmul(grads[0], x.get().transpose(2, 3)),
                                         w.get().to(DType::boolean));
                  if (needs[1]) down[1] = matmul(w.get().transpose(2, 3), grads[0]);
                  return down;
                });
}

/// [batch, heads, queries, keys], before the recipe's scale. `w`: its weights, or none.
Tensor similarities(const Tensor& q, const Tensor& k, const Tensor& w, const Recipe& recipe,
                    const spec::Problem& p) {
  switch (recipe.similarity) {
    case Similarity::dot:
      return products(q, k);
    case Similarity::additive:
      return additive_scores(q, k, w.expand({1, p.heads, 1, p.channels}));
    case Similarity::sum:
      return q + k.transpose(2, 3);
    case Similarity::given:
      return Tensor::zeros({p.batch, p.heads, p.queries, p.keys}, DType::f32, Device::gpu);
    default:
      fail<Unsupported>(kWhere, ": this similarity has no matrix of products");
  }
}

/// Modifiers and masks as an op: s and the tables in.
Tensor scores(const Tensor& s, const std::shared_ptr<const BoundRecipe>& recipe,
              const std::vector<Tensor>& tables, gpu::LeftOut left_out) {
  const Tensor packed = s.detach().contiguous();
  Tensor out = Tensor::empty(s.shape(), DType::f32, Device::gpu);
  gpu::score_pairs(recipe->recipe(), packed, left_out, out);
  std::vector<Tensor> inputs{s};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  std::vector<Shape> shapes;
  shapes.reserve(tables.size());
  for (const Tensor& table : tables) shapes.push_back(table.shape());
  const bool weighted = recipe->recipe().weights.data != nullptr;
  record("attend", inputs, {&out, 1},
         [recipe, shapes, weighted, left_out, saved = Saved(packed)](
             const Gradients& grads, const Needs& needs) -> Gradients {
           Gradients down(shapes.size() + 1);
           std::vector<Tensor> d_tables(shapes.size());
           for (std::size_t i = 0; i < shapes.size(); ++i) {
             // The similarity's own weights get theirs from the similarity.
             if (needs[i + 1] && !(weighted && i == 0))
               d_tables[i] = down[i + 1] = Tensor::empty(shapes[i], DType::f32, Device::gpu);
           }
           down[0] = Tensor::empty(saved.get().shape(), DType::f32, Device::gpu);
           gpu::score_pairs_backward(recipe->recipe(), recipe->grads_into(d_tables),
                                     saved.get(), left_out, grads[0].contiguous(), down[0]);
           return down;
         });
  return out;
}

}  // namespace

Attended attend_by_matrix(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttendSizes& sizes,
                          const std::shared_ptr<const BoundRecipe>& recipe,
                          const std::vector<Tensor>& tables, const Want& want) {
  const spec::Problem& p = sizes.problem;
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
  Tensor weights = catalogue::is<normalise::Softmax>(recipe->recipe().normaliser)
                       ? softmax(scores(s, recipe, tables, gpu::LeftOut::minus_infinity))
                       : scores(s, recipe, tables, gpu::LeftOut::zero);
  if (!recipe->recipe().weight_modifiers.empty()) {
    const Tensor factors = Tensor::empty(weights.shape(), DType::f32, Device::gpu);
    gpu::weight_factors(recipe->recipe(), factors);
    weights = weights * factors;
  }
  const auto given = [&](const Tensor& x) { return sizes.has_heads ? x : x.squeeze(1); };
  Attended result;
  result.route = Route::gpu_matrix;
  if (want.has(Want::output))
    result.output = given(pooled(weights, wide(v, p.heads)).to(sizes.storage));
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
