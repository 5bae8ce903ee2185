#include "attn/nn/mechanisms/pointer/pointer.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// Which queries have a target, and which of those may point to it.
struct Targets {
  Tensor given;      ///< boolean [batch, queries]
  Tensor allowed;    ///< the same
  Tensor positions;  ///< i64, 0 where none is given
};

Targets look_at(const Tensor& targets, const PointerReach& reach, std::int64_t batch,
                std::int64_t queries, std::int64_t positions) {
  if (!(targets.shape() == Shape{batch, queries}) || targets.dtype() != DType::i64)
    fail("attn::nn::Pointer: targets are ", targets.text(), "; i64[", batch, ", ", queries,
         "] is accepted");
  Targets seen{Tensor::empty({batch, queries}, DType::boolean),
               Tensor::empty({batch, queries}, DType::boolean),
               targets.to(Device::cpu).contiguous().clone()};
  auto* wanted = seen.positions.mutable_data<std::int64_t>();
  bool* given = seen.given.mutable_data<bool>();
  bool* allowed = seen.allowed.mutable_data<bool>();
  const auto lengths =
      padding::or_full(reach.lengths, batch, positions).to_vector<std::int64_t>();
  const Tensor visited =
      reach.visited.defined()
          ? reach.visited.to(Device::cpu).expand({batch, queries, positions}).contiguous()
          : Tensor();
  for (std::int64_t row = 0; row < batch * queries; ++row) {
    const std::int64_t place = wanted[row];
    if (place < -1 || place >= positions)
      fail("attn::nn::Pointer: target ", place, "; -1 to ", positions - 1, " are accepted");
    given[row] = place >= 0;
    allowed[row] = place >= 0 && place < lengths[row / queries] &&
                   !(visited.defined() && visited.data<bool>()[row * positions + place]);
    if (!given[row]) wanted[row] = 0;
  }
  const Device device = targets.device();
  return {seen.given.to(device), seen.allowed.to(device), seen.positions.to(device)};
}

}  // namespace

Pointer::Pointer(const PointerOptions& options)
    : w1_(add("W1", without_bias(options.encoder_dim, options.hidden))),
      w2_(add("W2", without_bias(options.decoder_dim, options.hidden))),
      v_(add("v", fan_in_uniform({options.hidden}, options.hidden))) {}

Tensor Pointer::target_scores(const Tensor& keys, const Tensor& queries,
                              const Tensor& targets) const {
  const std::int64_t batch = queries.size(0);
  const std::int64_t count = queries.size(1);
  const Tensor index = targets.unsqueeze(-1).expand({batch, count, keys.size(2)});
  return sum(v_ * tanh(gather(keys, 1, index) + queries), -1);
}

Pointed Pointer::forward(const Tensor& encoder, const Tensor& decoder,
                         const PointerReach& reach, const Tensor& targets) const {
  const Tensor keys = w1_(padding::zero_past(encoder, reach.lengths));
  const Tensor queries = w2_(decoder);
  Mask keep = padding::keys(reach.lengths);
  if (reach.visited.defined()) keep = keep && !spec::dense(reach.visited);
  const Want want = targets.defined() ? Want::weights | Want::log_sum_exp : Want::weights;
  const Attended looked =
      attend(queries, keys, {}, spec::additive(v_), keep, spec::softmax(), want);
  if (!targets.defined()) return {looked.weights, {}};

  const Targets seen = look_at(targets, reach, queries.size(0), queries.size(1), keys.size(1));
  const Tensor can = padding::is_score(looked.log_sum_exp);  // some place is in reach
  const Tensor counted = logical_and(seen.given, can);
  const Tensor scores =
      keys.size(1) == 0 ? Tensor::zeros(seen.given.shape(), queries.dtype(), queries.device())
                        : target_scores(keys, queries, seen.positions);
  // Where nothing is in reach the log of the sum is -inf, and nothing may be computed with it.
  const Tensor log_prob = scores - keep_where(looked.log_sum_exp, can);
  const Tensor reachable =
      keep_where(log_prob, seen.allowed, -std::numeric_limits<double>::infinity());
  return {looked.weights, keep_where(reachable, counted)};
}

}  // namespace attn::nn
