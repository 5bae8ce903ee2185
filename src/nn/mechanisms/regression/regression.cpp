// Kernel regression, and its width learnt.

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/regression/kernel_regression.hpp"
#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
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

/// [count] or [count, dim] as [1, count, dim].
Tensor as_rows(const Tensor& x, const char* what) {
  if (x.rank() != 1 && x.rank() != 2)
    fail("attn::nn::KernelRegression: ", what, " ", x.text(),
         "; [points] and [points, dim] are accepted");
  return (x.rank() == 1 ? x.unsqueeze(1) : x).unsqueeze(0);
}

}  // namespace

Attended nadaraya_watson(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& width,
                         const Mask& keep, const Want& want) {
  if (q.rank() < 2 || q.size(-2) == 0)
    return attend(q, k, v, spec::distance(width), keep, spec::softmax(), want);
  // Distances do not depend on where zero is. Far from it, (q - k) w would lose digits as
  // q w - k w, and the sums of the gradients as well.
  const Tensor origin = origin_of(q);
  return attend(q - origin, k - origin, v, spec::distance(width), keep, spec::softmax(), want);
}

Attended nadaraya_watson_scalar(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                const Tensor& width, const Mask& keep, const Want& want) {
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

KernelRegression::KernelRegression(const KernelRegressionOptions& options)
    : w_(add("w", Tensor::full({1}, options.width))) {}

void KernelRegression::keep(const Tensor& x, const Tensor& y) {
  if (y.rank() != 1 || x.rank() < 1 || x.size(0) != y.size(0))
    fail("attn::nn::KernelRegression: x ", x.text(), " and y ", y.text(),
         "; x [points] or [points, dim] with y [points] is accepted");
  x_ = as_rows(x, "x").detach();
  y_ = as_rows(y, "y").detach();
  to(x.dtype());
  to(x.device());
}

std::vector<KernelRegression::Epoch> KernelRegression::fit(const Tensor& x, const Tensor& y,
                                                           const Training& training) {
  keep(x, y);
  Sgd descent(*this);
  std::vector<Epoch> history;
  for (std::int64_t epoch = 0; epoch < training.epochs; ++epoch) {
    descent.zero_grad();
    const Tensor now = loss();
    now.backward();
    descent.step(training.rate);
    history.push_back({now.item(), width()});
  }
  return history;
}

Tensor KernelRegression::loss() const {
  const Mask others = !spec::window(0, 0, 0);
  const Tensor off = look(x_, others, Want::output).output - y_;
  return sum(square(off));
}

Attended KernelRegression::predict(const Tensor& x, const Want& want) const {
  Attended found = look(as_rows(x, "x"), {}, want);
  if (found.output.defined()) found.output = found.output.reshape({x.size(0)});
  if (found.weights.defined()) found.weights = found.weights.squeeze(0);
  return found;
}

Attended KernelRegression::look(const Tensor& queries, const Mask& keep,
                                const Want& want) const {
  if (!x_.defined())
    fail("attn::nn::KernelRegression: there are no points; call fit() or keep() before");
  return nadaraya_watson(queries, x_, y_, w_, keep, want);
}

}  // namespace attn::nn
