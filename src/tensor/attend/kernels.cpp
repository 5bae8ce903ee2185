#include "tensor/attend/kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/cpu/inspect.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/gpu.hpp"
#include "tensor/attend/views.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

/// One row of weights in double, taken apart as attn/kernels/inspect.hpp says.
class RowInspector {
 public:
  RowInspector(const InspectInto& to, std::int64_t keys) : keys_(keys) {
    offset_ = to.distance_offset;
    column_sums_ = view<double, 3>(to.column_sums);
    distance_sums_ = view<double, 4>(to.distance_sums);
    arg_max_ = view<std::int64_t, 3>(to.arg_max);
    top_keys_ = view<std::int64_t, 4>(to.top_keys);
    top_weights_ = view<double, 4>(to.top_weights);
  }

  void read(std::int64_t b, std::int64_t h, std::int64_t i, const double* w) {
    order_.clear();
    const std::int64_t reach = distance_sums_.shape[3] / 2;
    for (std::int64_t j = 0; j < keys_; ++j) {
      if (column_sums_.data != nullptr) *column_sums_.at(b, h, j) += w[j];
      if (distance_sums_.data != nullptr) {
        const std::int64_t apart = std::clamp(j - (i + offset_), -reach, reach);
        *distance_sums_.at(b, h, i, apart + reach) += w[j];
      }
      if (w[j] > 0.0) order_.push_back(j);
    }
    std::sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t c) {
      return w[a] > w[c] || (w[a] == w[c] && a < c);
    });
    if (arg_max_.data != nullptr) *arg_max_.at(b, h, i) = order_.empty() ? -1 : order_.front();
    if (top_keys_.data == nullptr) return;
    for (std::int64_t t = 0; t < top_keys_.shape[3]; ++t) {
      const bool found = t < static_cast<std::int64_t>(order_.size());
      const std::int64_t key = found ? order_[static_cast<std::size_t>(t)] : -1;
      *top_keys_.at(b, h, i, t) = key;
      *top_weights_.at(b, h, i, t) = found ? w[key] : 0.0;
    }
  }

 private:
  std::int64_t keys_;
  std::int64_t offset_;
  View<double, 3> column_sums_;
  View<double, 4> distance_sums_;
  View<std::int64_t, 3> arg_max_;
  View<std::int64_t, 4> top_keys_;
  View<double, 4> top_weights_;
  std::vector<std::int64_t> order_;  ///< keys with a weight, heaviest first
};

/// The reference has all weights or none; the sums are made from them.
void inspect_reference(ForwardArgs<double> args, const Recipe& recipe, const InspectInto& to) {
  const auto& [batch, heads, queries, channels] = args.q.shape;
  const std::int64_t keys = args.k.shape[2];
  double nothing = 0.0;
  args.out = {&nothing, {batch, heads, queries, args.v.shape[3]}, {}};
  const Tensor all = to.weights.defined()
                         ? to.weights
                         : Tensor::empty({batch, heads, queries, keys}, DType::f64);
  reference::weights(args, recipe, view<double, 4>(all));
  for (Tensor sums : {to.column_sums, to.distance_sums})
    if (sums.defined()) sums.fill(0.0);
  RowInspector inspector(to, keys);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i)
        inspector.read(b, h, i, all.data<double>() + ((b * heads + h) * queries + i) * keys);
}

}  // namespace

bool InspectInto::any() const {
  return weights.defined() || column_sums.defined() || distance_sums.defined() ||
         arg_max.defined() || top_keys.defined();
}

void attend_forward(const AttendTensors& x, const Recipe& recipe, Route route) {
  if (on_gpu(x.q)) return gpu::attend_forward(x, recipe, route);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const ForwardArgs<T> args = forward_args<T>(x);
    if constexpr (!std::is_same_v<T, double>) {
      if (route != Route::reference) return cpu::forward(args, recipe);
    }
    reference::forward(args, recipe);
    note_route(Route::reference);
  });
}

void attend_inspect(const AttendTensors& x, const Recipe& recipe, const InspectInto& to) {
  if (on_gpu(x.q)) return gpu::attend_inspect(x, recipe, to);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const ForwardArgs<T> args = forward_args<T>(x);
    if constexpr (std::is_same_v<T, double>) {
      inspect_reference(args, recipe, to);
    } else {
      cpu::inspect(args, recipe,
                   {.all = view<float, 4>(to.weights),
                    .top_keys = view<std::int64_t, 4>(to.top_keys),
                    .top_weights = view<float, 4>(to.top_weights),
                    .column_sums = view<float, 3>(to.column_sums),
                    .distance_sums = view<float, 4>(to.distance_sums),
                    .distance_offset = to.distance_offset,
                    .arg_max = view<std::int64_t, 3>(to.arg_max)});
    }
  });
}

void attend_backward(const AttendTensors& x, const Recipe& recipe, const AttendGrads& grads,
                     const RecipeGrads& tables) {
  if (on_gpu(x.q)) return gpu::attend_backward(x, recipe, grads, tables);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const BackwardArgs<T> args = backward_args<T>(x, grads);
    if constexpr (!std::is_same_v<T, double>) {
      if (route(call_of(args, recipe)) != Route::reference)
        return cpu::backward(args, recipe, tables);
    }
    reference::backward(args, recipe, tables);
  });
}

}  // namespace attn::op
