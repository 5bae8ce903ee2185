#include "attn/tensor/attend.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/kernels/gpu/limits.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/kernels.hpp"
#include "tensor/attend/matrix.hpp"
#include "tensor/attend/recipe.hpp"
#include "tensor/attend/sizes.hpp"
#include "tensor/attend/views.hpp"

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
  op::AttendTensors in = sizes.inputs(q.get(), k.get(), v.get());
  in.out = out.get();
  in.stat = stat.get();
  in.similarities = similarities.get();
  op::AttendGrads to;
  to.d_out = sizes.with_heads(grads[output]);
  if (!to.d_out.defined()) {
    // Nothing arrived at the output: pooling no channels is the same and costs less.
    in.v = in.v.slice(3, 0, 0);
    in.out = in.out.slice(3, 0, 0);
    to.d_out = in.out;
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

/// The call as the route sees it.
Call call_for(const op::AttendTensors& x, const Recipe& recipe, const spec::Problem& p,
              const Want& want, bool taped) {
  Call call{.on_gpu = p.device == Device::gpu,
            .dtype = x.q.dtype(),
            .recipe = &recipe,
            .batch = p.batch,
            .heads = p.heads,
            .kv_heads = p.kv_heads,
            .queries = p.queries,
            .keys = p.keys,
            .channels = p.channels,
            .value_channels = x.v.size(3),
            .packed = x.sequences.is_packed(),
            .paged = x.sequences.is_paged(),
            .taped = taped,
            .output = want.has(Want::output),
            .weights = want.has(Want::weights) || want.has(Want::column_sums),
            .arg_max = want.has(Want::arg_max),
            .log_sum_exp = want.has(Want::log_sum_exp),
            .row_sums = want.reach() >= 0 || want.top_count() >= 0};
  if ((call.packed || call.paged) && (call.weights || call.arg_max || call.row_sums))
    fail<Unsupported>(
        "attn::attend: the weights of packed or paged sequences cannot be looked at");
  if (call.paged && taped)
    fail<Unsupported>(
        "attn::attend: keys in pages have no backward; detach q, or attend to k and v "
        "themselves");
  if (!call.on_gpu) return call;
  const gpu::Capability capability = gpu::capability();
  call.capability = capability.version;
  call.shared_bytes = capability.shared_bytes;
  // The maps that decide are those of 16-bit types.
  const auto can_map = [](const Tensor& tensor) {
    return gpu::can_map(op::view<const BFloat16, 4>(tensor));
  };
  call.aligned = size_of(call.dtype) == 2 && can_map(x.q) && can_map(x.k) && can_map(x.v);
  return call;
}

/// What a call computes, with head axes and off the tape.
struct Computed {
  op::AttendTensors x;  ///< stat and similarities where somebody needs them
  op::InspectInto looked;
};

Computed compute(const op::AttendTensors& in, const Recipe& recipe, const spec::Problem& p,
                 const Want& want, const Call& call, Route route) {
  Computed result{in, room_for(want, p)};
  op::AttendTensors& x = result.x;
  x.out = op::empty_like(x.q, x.v.size(3));
  const Shape rows{x.q.size(0), x.q.size(1), x.q.size(2)};
  if (call.taped || want.has(Want::log_sum_exp) ||
      (route == Route::gpu_decode && result.looked.weights_alone()))
    x.stat = Tensor::empty(rows, p.dtype, p.device);
  if (keeps_similarities(call))
    x.similarities = Tensor::empty({rows[0], rows[1], rows[2], p.keys}, p.dtype);
  if (x.stat.defined() || want.has(Want::output)) op::attend_forward(x, recipe, route);
  if (result.looked.any()) op::attend_inspect(x, recipe, result.looked);
  return result;
}

/// The results as the caller gets them, in the order in which they are recorded.
std::vector<Tensor> differentiable(const Computed& computed, const op::AttendSizes& sizes,
                                   const Want& want) {
  std::vector<Tensor> results(AttendNode::kResults);
  if (want.has(Want::output)) results[AttendNode::output] = computed.x.out;
  if (want.has(Want::log_sum_exp)) results[AttendNode::log_sum_exp] = computed.x.stat;
  results[AttendNode::weights] = computed.looked.weights;
  results[AttendNode::column_sums] = computed.looked.column_sums;
  results[AttendNode::distance_sums] = computed.looked.distance_sums;
  for (Tensor& result : results) result = sizes.without_heads(result);
  return results;
}

/// The part of k and v that holds keys, and a mask where sequences differ.
Attended attend_cached(const Tensor& q, const Tensor& k, const Tensor& v,
                       const spec::Score& score, const Mask& keep,
                       const spec::Normaliser& normaliser, const Want& want,
                       const spec::Sequences& sequences) {
  const std::int64_t keys = sequences.longest_keys();
  if (k.rank() < 3 || sequences.count() != k.size(0) || keys > k.size(-2))
    fail("attn::attend: k is ", k.text(), " beside ", sequences.count(),
         " sequences in a cache, the longest of ", keys,
         " keys; a row each, with room, is accepted");
  const Mask seen = sequences.seen(q.size(-2));
  const Mask both = keep.keeps_all() ? seen : seen.keeps_all() ? keep : seen && keep;
  return attend(q, k.slice(-2, 0, keys), v.defined() ? v.slice(-2, 0, keys) : v, score, both,
                normaliser, want);
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
                const Mask& keep, const spec::Normaliser& normaliser, const Want& want,
                const spec::Sequences& sequences) {
  if (sequences.is_cached())
    return attend_cached(q, k, v, score, keep, normaliser, want, sequences);
  check_want(want, v, normaliser);
  const op::AttendSizes sizes(q, k, v, score, sequences);
  // Values that nobody pools play no part.
  const Tensor pooled = want.has(Want::output) ? v : Tensor();
  std::vector<Tensor> tables;
  const auto recipe =
      std::make_shared<const op::BoundRecipe>(score, keep, normaliser, sizes.problem, tables);
  std::vector<Tensor> inputs{q, k, pooled};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  const bool taped = wants_grad(inputs);
  const op::AttendTensors in = sizes.inputs(q, k, pooled);
  const Call call = call_for(in, recipe->recipe(), sizes.problem, want, taped);
  const Route chosen = route(call);
  if (chosen == Route::gpu_matrix)
    return op::attend_by_matrix(q, k, v, sizes, recipe, tables, want);
  const Computed computed = compute(in, recipe->recipe(), sizes.problem, want, call, chosen);
  std::vector<Tensor> results = differentiable(computed, sizes, want);
  if (taped) {
    const auto node = std::make_shared<AttendNode>(AttendNode{q,
                                                              k,
                                                              pooled,
                                                              computed.x.out,
                                                              computed.x.stat,
                                                              computed.x.similarities,
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
          sizes.without_heads(computed.looked.top_weights),
          chosen,
          note_of(chosen, call)};
}

}  // namespace attn
