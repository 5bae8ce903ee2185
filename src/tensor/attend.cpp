#include "attn/tensor/attend.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend_kernels.hpp"
#include "tensor/attend_matrix.hpp"
#include "tensor/attend_recipe.hpp"
#include "tensor/attend_sizes.hpp"

namespace attn {
namespace {

constexpr unsigned kDistances = 32u;
constexpr unsigned kTop = 64u;

/// What backward keeps of a call. Results are numbered as they are recorded.
struct AttendNode {
  enum Result : std::size_t { output, weights, log_sum_exp, column_sums, distance_sums };
  static constexpr std::size_t kResults = 5;

  Saved q, k, v;  ///< as they were given
  Saved out, stat, similarities;
  std::shared_ptr<const op::BoundRecipe> recipe;
  op::AttendSizes sizes;
  int distance_offset = 0;
  std::vector<Shape> table_shapes;

  Gradients backward(const Gradients& grads, const Needs& needs) const;
};

Gradients AttendNode::backward(const Gradients& grads, const Needs& needs) const {
  op::AttendInputs in = sizes.inputs(q.get(), k.get(), v.get());
  op::AttendGrads to;
  to.out = out.get();
  to.stat = stat.get();
  to.similarities = similarities.get();
  to.d_out = sizes.with_heads(grads[output]);
  if (!to.d_out.defined()) {
    // Nothing arrived at the output: pooling no channels is the same and costs less.
    in.v = in.v.slice(3, 0, 0);
    to.out = to.out.slice(3, 0, 0);
    to.d_out = to.out;
  }
  to.d_stat = sizes.with_heads(grads[log_sum_exp]);
  to.d_weights = sizes.with_heads(grads[weights]);
  to.d_column_sums = sizes.with_heads(grads[column_sums]);
  to.d_distance_sums = sizes.with_heads(grads[distance_sums]);
  to.distance_offset = distance_offset;
  if (needs[0]) to.dq = op::empty_like(in.q, in.q.size(3));
  if (needs[1]) to.dk = op::empty_like(in.k, in.k.size(3));
  if (needs[2] && grads[output].defined()) to.dv = op::empty_like(in.v, in.v.size(3));
  Gradients down{to.dq, to.dk, to.dv};
  std::vector<Tensor> d_tables;
  d_tables.reserve(table_shapes.size());
  for (std::size_t i = 0; i < table_shapes.size(); ++i)
    d_tables.push_back(
        needs[3 + i] ? Tensor::empty(table_shapes[i], sizes.problem.dtype, sizes.problem.device)
                     : Tensor());
  op::attend_backward(in, recipe->recipe(), to, recipe->grads_into(d_tables));
  for (Tensor& grad : down) grad = sizes.without_heads(grad);
  down.insert(down.end(), d_tables.begin(), d_tables.end());
  return down;
}

/// Room for what is asked of the weights.
op::InspectInto room_for(const Want& want, const spec::Problem& p) {
  op::InspectInto to;
  if (want.has(Want::weights))
    to.weights = Tensor::empty({p.batch, p.heads, p.queries, p.keys}, p.dtype, p.device);
  if (want.has(Want::column_sums))
    to.column_sums = Tensor::empty({p.batch, p.heads, p.keys}, p.dtype, p.device);
  if (want.reach() >= 0) {
    to.distance_sums =
        Tensor::empty({p.batch, p.heads, p.queries, 2 * want.reach() + 1}, p.dtype, p.device);
    to.distance_offset = p.offset(want.offset());
  }
  if (want.has(Want::arg_max))
    to.arg_max = Tensor::empty({p.batch, p.heads, p.queries}, DType::i64, p.device);
  if (want.top_count() >= 0) {
    const Shape shape{p.batch, p.heads, p.queries, want.top_count()};
    to.top_keys = Tensor::empty(shape, DType::i64, p.device);
    to.top_weights = Tensor::empty(shape, p.dtype, p.device);
  }
  return to;
}

void check_want(const Want& want, const Tensor& v, const spec::Normaliser& normaliser) {
  if (want.has(Want::output) && !v.defined())
    fail("attn::attend: an output is wanted without v; give v, or want weights alone");
  if (want.has(Want::log_sum_exp) && !normaliser.has_log_sum_exp)
    fail(
        "attn::attend: log_sum_exp is wanted of a normaliser that has none; softmax and "
        "softmax_with_sink are accepted");
}

/// What a call computes, with head axes and off the tape.
struct Computed {
  Tensor out;
  Tensor stat;          ///< not defined where nobody needs it
  Tensor similarities;  ///< for backward, where keeping them pays
  op::InspectInto looked;
};

Computed compute(const op::AttendInputs& in, const Recipe& recipe, const spec::Problem& p,
                 const Want& want, bool taped) {
  Computed result{op::empty_like(in.q, in.v.size(3)), {}, {}, room_for(want, p)};
  if (taped || want.has(Want::log_sum_exp))
    result.stat = Tensor::empty({p.batch, p.heads, p.queries}, p.dtype, p.device);
  // The reference, which serves doubles, and the GPU make them again.
  if (taped && p.device == Device::cpu && p.dtype != DType::f64 &&
      worth_keeping(recipe.similarity, p.queries, p.keys, p.channels))
    result.similarities = Tensor::empty({p.batch, p.heads, p.queries, p.keys}, p.dtype);
  if (result.stat.defined() || want.has(Want::output))
    op::attend_forward(in, recipe, {result.out, result.stat, result.similarities});
  if (result.looked.any()) op::attend_inspect(in, recipe, result.looked);
  return result;
}

/// The results as the caller gets them, in the order in which they are recorded.
std::vector<Tensor> differentiable(const Computed& computed, const op::AttendSizes& sizes,
                                   const Want& want) {
  std::vector<Tensor> results(AttendNode::kResults);
  if (want.has(Want::output)) results[AttendNode::output] = computed.out;
  if (want.has(Want::log_sum_exp)) results[AttendNode::log_sum_exp] = computed.stat;
  results[AttendNode::weights] = computed.looked.weights;
  results[AttendNode::column_sums] = computed.looked.column_sums;
  results[AttendNode::distance_sums] = computed.looked.distance_sums;
  for (Tensor& result : results) result = sizes.without_heads(result);
  return results;
}

}  // namespace

Want Want::distance_sums(std::int64_t reach, spec::Offset offset) {
  if (reach < 0 || reach > INT_MAX / 4)
    fail("attn::Want::distance_sums: reach ", reach, "; 0..", INT_MAX / 4, " is accepted");
  Want want(kDistances);
  want.reach_ = reach;
  want.offset_ = offset;
  return want;
}

Want Want::top(std::int64_t count) {
  if (count < 0) fail("attn::Want::top: ", count, " weights; 0 and more are accepted");
  Want want(kTop);
  want.top_count_ = count;
  return want;
}

Want operator|(const Want& a, const Want& b) {
  if ((a.flags_ & b.flags_ & (kDistances | kTop)) != 0)
    fail("attn::Want: distance_sums or top is asked for twice");
  Want joined = (b.flags_ & kDistances) != 0 ? b : a;
  joined.flags_ = a.flags_ | b.flags_;
  joined.top_count_ = (b.flags_ & kTop) != 0 ? b.top_count_ : a.top_count_;
  return joined;
}

Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const spec::Score& score,
                const Keep& keep, const spec::Normaliser& normaliser, const Want& want) {
  check_want(want, v, normaliser);
  const op::AttendSizes sizes(q, k, v, score);
  // Values that nobody pools play no part.
  const Tensor pooled = want.has(Want::output) ? v : Tensor();
  std::vector<Tensor> tables;
  const auto recipe =
      std::make_shared<const op::BoundRecipe>(score, keep, normaliser, sizes.problem, tables);
  if (sizes.problem.device == Device::gpu && op::is_by_matrix(recipe->recipe(), want, sizes))
    return op::attend_by_matrix(q, k, v, sizes, recipe, tables, want);
  std::vector<Tensor> inputs{q, k, pooled};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  const bool taped = wants_grad(inputs);
  const Computed computed =
      compute(sizes.inputs(q, k, pooled), recipe->recipe(), sizes.problem, want, taped);
  std::vector<Tensor> results = differentiable(computed, sizes, want);
  if (taped) {
    const auto node = std::make_shared<AttendNode>(AttendNode{q,
                                                              k,
                                                              pooled,
                                                              computed.out,
                                                              computed.stat,
                                                              computed.similarities,
                                                              recipe,
                                                              sizes,
                                                              computed.looked.distance_offset,
                                                              {}});
    for (const Tensor& table : tables) node->table_shapes.push_back(table.shape());
    record("attend", inputs, results, [node](const Gradients& grads, const Needs& needs) {
      return node->backward(grads, needs);
    });
  }
  return {results[AttendNode::output],
          results[AttendNode::weights],
          results[AttendNode::log_sum_exp],
          results[AttendNode::column_sums],
          results[AttendNode::distance_sums],
          sizes.without_heads(computed.looked.arg_max),
          sizes.without_heads(computed.looked.top_keys),
          sizes.without_heads(computed.looked.top_weights)};
}

}  // namespace attn
