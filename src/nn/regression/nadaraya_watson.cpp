#include "attn/nn/regression/nadaraya_watson.hpp"

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

Attended nadaraya_watson(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& width,
                         const Keep& keep, const Want& want) {
  return attend(q, k, v, spec::distance(width), keep, spec::softmax(), want);
}

Attended nadaraya_watson_scalar(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                const Tensor& width, const Keep& keep, const Want& want) {
  const bool tiled = keys.rank() == 2;
  if (queries.rank() != 1 || (!tiled && keys.rank() != 1) ||
      !(keys.shape() == values.shape()) || (tiled && keys.size(0) != queries.size(0)))
    fail("attn::nn::nadaraya_watson_scalar: queries ", queries.text(), ", keys ", keys.text(),
         " and values ", values.text(),
         "; queries [queries] with keys and values [keys] or [queries, keys] are accepted");
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
