#include "attn/nn/mechanisms/regression/kernel_regression.hpp"

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"

namespace attn::nn {
namespace {

/// [count] or [count, dim] as [1, count, dim].
Tensor as_rows(const Tensor& x, const char* what) {
  if (x.rank() != 1 && x.rank() != 2)
    fail("attn::nn::KernelRegression: ", what, " ", x.text(),
         "; [points] and [points, dim] are accepted");
  return (x.rank() == 1 ? x.unsqueeze(1) : x).unsqueeze(0);
}

}  // namespace

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
  const Keep others = !spec::window(0, 0, 0);
  const Tensor off = look(x_, others, Want::output).output - y_;
  return sum(square(off));
}

Attended KernelRegression::predict(const Tensor& x, const Want& want) const {
  Attended found = look(as_rows(x, "x"), {}, want);
  if (found.output.defined()) found.output = found.output.reshape({x.size(0)});
  if (found.weights.defined()) found.weights = found.weights.squeeze(0);
  return found;
}

Attended KernelRegression::look(const Tensor& queries, const Keep& keep,
                                const Want& want) const {
  if (!x_.defined())
    fail("attn::nn::KernelRegression: there are no points; call fit() or keep() before");
  return nadaraya_watson(queries, x_, y_, w_, keep, want);
}

}  // namespace attn::nn
