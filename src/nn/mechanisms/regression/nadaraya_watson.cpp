#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"

#include <cmath>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::nn {
namespace {

/// The first query of each row of the batch, [batch, 1, dim]: a place among the points. Keys
/// may be anything behind a mask, and a query that is not finite harms itself alone.
Tensor origin_of(const Tensor& q) {
  const Tensor first = q.detach().slice(q.rank() - 2, 0, 1);
  auto numbers = first.to(DType::f64).to(Device::cpu).contiguous().to_vector<double>();
  for (double& number : numbers)
    if (!std::isfinite(number)) number = 0.0;
  return Tensor::from(numbers, first.shape()).to(q.dtype()).to(q.device());
}

/// x [points], or one of them for each query.
Tensor for_each_query(const Tensor& x, std::int64_t queries) {
  return x.rank() == 2 ? x : x.unsqueeze(0).expand({queries, x.size(0)}).contiguous();
}

}  // namespace

Attended nadaraya_watson(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& width,
                         const Keep& keep, const Want& want) {
  if (q.rank() < 2 || q.size(-2) == 0)
    return attend(q, k, v, spec::distance(width), keep, spec::softmax(), want);
  // Distances do not depend on where zero is. Far from it, (q - k) w would lose digits as
  // q w - k w, and the sums of the gradients as well.
  const Tensor origin = origin_of(q);
  return attend(q - origin, k - origin, v, spec::distance(width), keep, spec::softmax(), want);
}

Attended nadaraya_watson_scalar(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                const Tensor& width, const Keep& keep, const Want& want) {
  const bool tiled = keys.rank() == 2 || values.rank() == 2;
  const auto fits = [&](const Tensor& x) {
    return x.rank() == 1 || (x.rank() == 2 && x.size(0) == queries.size(0));
  };
  if (queries.rank() != 1 || !fits(keys) || !fits(values) || keys.size(-1) != values.size(-1))
    fail("attn::nn::nadaraya_watson_scalar: queries ", queries.text(), ", keys ", keys.text(),
         " and values ", values.text(),
         "; queries [queries] with keys and values [keys] or [queries, keys] are accepted");
  if (tiled && keys.rank() != values.rank())
    return nadaraya_watson_scalar(queries, for_each_query(keys, queries.size(0)),
                                  for_each_query(values, queries.size(0)), width, keep, want);
  const std::int64_t count = queries.size(0);
  const std::int64_t points = keys.size(-1);
  // Keys of their own make a batch of the queries.
  const std::int64_t batch = tiled ? count : 1;
  const std::int64_t rows = tiled ? 1 : count;
  Attended found =
      nadaraya_watson(queries.reshape({batch, rows, 1}), keys.reshape({batch, points, 1}),
                      values.reshape({batch, points, 1}), width, keep, want);
  if (found.output.defined()) found.output = found.output.reshape({count});
  if (found.weights.defined()) found.weights = found.weights.reshape({count, points});
  return found;
}

}  // namespace attn::nn
