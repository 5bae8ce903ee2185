#include "tensor/ops/linear_attention_of_ops.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/linear_attention.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

/// Heads, and steps in chunks: tensors become [batch * heads, chunks, steps, ...].
struct Cut {
  std::int64_t batch, heads, kv_heads, steps, size;

  std::int64_t rows() const { return batch * heads; }
  std::int64_t chunks() const { return (steps + size - 1) / size; }

  /// x [batch, heads or kv_heads, steps, channels]. Zeros fill the last chunk: they write
  /// nothing, and what reads them is cut off.
  Tensor operator()(const Tensor& x) const {
    const Tensor flat = for_heads(x).reshape({rows(), steps, x.size(3)});
    return pad(flat, 1, 0, chunks() * size - steps)
        .reshape({rows(), chunks(), size, x.size(3)});
  }
  /// The kv head of each query head, [batch * heads, ...].
  Tensor for_heads(const Tensor& x) const {
    const std::int64_t group = heads / x.size(1);
    return x.unsqueeze(2)
        .expand({batch, x.size(1), group, x.size(2), x.size(3)})
        .reshape({rows(), x.size(2), x.size(3)});
  }
};

/// Boolean [size, size]: what lies below the diagonal, and the diagonal too if `first` is 1.
Tensor below(std::int64_t size, std::int64_t first, Device device) {
  const Tensor lengths = Tensor::arange(size);
  for (std::int64_t t = 0; t < size; ++t) lengths.mutable_data<std::int64_t>()[t] += first;
  return length_mask(lengths, size).to(device);
}

/// What the steps of each chunk leave of each other; see cpu/linear_chunk.hpp. Exponents are
/// differences of sums here, none above 0.
struct Decay {
  Tensor sums = {};  ///< [rows, chunks, size, 1 or channels], up to each step; or none

  Tensor from_start(const Tensor& x) const { return sums.defined() ? x * exp(sums) : x; }
  Tensor to_end(const Tensor& x) const { return sums.defined() ? x * exp(last() - sums) : x; }
  Tensor last() const { return sums.slice(2, sums.size(2) - 1, sums.size(2)); }

  /// The scores of x and k under the decay between them, zero where `mask` is false.
  Tensor scores(const Tensor& x, const Tensor& k, const Tensor& mask) const {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    if (!sums.defined()) return keep_where(matmul(x, k.transpose(-2, -1)), mask);
    if (sums.size(3) == 1)
      return matmul(x, k.transpose(-2, -1)) *
             exp(keep_where(sums - sums.transpose(-2, -1), mask, kNone));
    const Tensor between = sums.unsqueeze(3) - sums.unsqueeze(2);
    return sum(
        x.unsqueeze(3) * k.unsqueeze(2) * exp(keep_where(between, mask.unsqueeze(2), kNone)),
        -1);
  }
};

/// (I + a)^-1 of matrices with nothing on or above the diagonal, row by row.
Tensor inverse(const Tensor& a) {
  const std::int64_t size = a.size(-1);
  const Tensor unit = Tensor::zeros({size, size}, a.dtype());
  dispatch_real(a.dtype(), "attn::linear_attention", [&]<class T>(T) {
    for (std::int64_t t = 0; t < size; ++t) unit.mutable_data<T>()[t * (size + 1)] = T(1);
  });
  const Tensor rows = unit.to(a.device()).expand(a.shape());
  Tensor result = rows.slice(-2, 0, 1);
  for (std::int64_t t = 1; t < size; ++t) {
    const Tensor row = a.slice(-2, t, t + 1).slice(-1, 0, t);
    result = concat({result, rows.slice(-2, t, t + 1) - matmul(row, result)}, -2);
  }
  return result;
}

}  // namespace

LinearAttended linear_attention_of_ops(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const LinearGates& gates, const Tensor& state,
                                       double scale) {
  const bool is_delta = gates.beta.defined();
  const bool by_channel = gates.decay.defined() && gates.decay.size(3) > 1;
  // Small where a chunk is solved row by row, or holds a number a pair and channel.
  const Cut cut{q.size(0), q.size(1), k.size(1), q.size(2), is_delta || by_channel ? 16 : 64};
  const Tensor lower = below(cut.size, 1, q.device());
  Decay decay;
  if (gates.decay.defined())
    decay.sums =
        matmul(keep_where(Tensor::full(lower.shape(), 1.0, q.dtype(), q.device()), lower),
               cut(gates.decay));
  const Tensor x = cut(q) * scale;
  const Tensor keys = cut(k);
  const Tensor pairs = decay.scores(x, keys, lower);
  const Tensor queries = decay.from_start(x);
  const Tensor written = decay.to_end(keys).transpose(-2, -1);
  Tensor values = cut(v);
  Tensor reads;  // what the delta rule takes from the state before a chunk
  if (is_delta) {
    const Tensor beta = cut(gates.beta.unsqueeze(3));
    const Tensor solved =
        inverse(decay.scores(keys, keys, below(cut.size, 0, q.device())) * beta);
    values = matmul(solved, values * beta);
    reads = matmul(solved, decay.from_start(keys) * beta);
  }
  const Tensor left = decay.sums.defined() ? exp(decay.last()).transpose(-2, -1) : Tensor();
  const Shape state_shape{cut.batch, cut.kv_heads, k.size(3), v.size(3)};
  Tensor now = cut.for_heads(
      state.defined() ? state : Tensor::zeros(state_shape, q.dtype(), q.device()));
  std::vector<Tensor> outputs;
  for (std::int64_t n = 0; n < cut.chunks(); ++n) {
    const auto here = [&](const Tensor& of) { return of.select(1, n); };
    const Tensor writes = is_delta ? here(values) - matmul(here(reads), now) : here(values);
    outputs.push_back(matmul(here(queries), now) + matmul(here(pairs), writes));
    now = (left.defined() ? now * here(left) : now) + matmul(here(written), writes);
  }
  outputs.push_back(
      Tensor::zeros({cut.rows(), 0, v.size(3)}, q.dtype(), q.device()));  // if there is none
  return {concat(outputs, 1)
              .slice(1, 0, cut.steps)
              .reshape({cut.batch, cut.heads, cut.steps, v.size(3)}),
          now.reshape({cut.batch, cut.kv_heads, cut.heads / cut.kv_heads, k.size(3), v.size(3)})
              .select(2, 0)};
}

}  // namespace attn::op
