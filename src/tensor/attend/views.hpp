/// From the tensors of an attention call to the views that kernels of either device take.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/kernels.hpp"
#include "tensor/op.hpp"

namespace attn::op {

/// Calls run with a number of the element type.
template <class Run>
void dispatch_storage(DType dtype, const Run& run) {
  switch (dtype) {
    case DType::f32:
      return run(float{});
    case DType::f64:
      return run(double{});
    case DType::bf16:
      return run(BFloat16{});
    case DType::f16:
      return run(Float16{});
    default:
      fail("attn::attend: dtype ", name_of(dtype), "; f32, f64, bf16 and f16 are accepted");
  }
}

/// A view of a tensor; without data if there is none.
template <class T, int kRank>
View<T, kRank> view(const Tensor& x) {
  View<T, kRank> result;
  if (!x.defined()) return result;
  result.data = numbers<T>(x);
  std::copy(x.shape().begin(), x.shape().end(), result.shape.begin());
  std::copy(x.strides().begin(), x.strides().end(), result.strides.begin());
  return result;
}

template <class T>
ForwardArgs<T> forward_args(const AttendTensors& x) {
  using S = StatOf<T>;
  return {.q = view<const T, 4>(x.q),
          .k = view<const T, 4>(x.k),
          .v = view<const T, 4>(x.v),
          .out = view<T, 4>(x.out),
          .stat = view<S, 3>(x.stat),
          .packing = x.sequences.packing(),
          .paging = x.sequences.paging(),
          .similarities = view<S, 4>(x.similarities)};
}

template <class T>
Inspection<StatOf<T>> inspection(const InspectInto& to) {
  using S = StatOf<T>;
  return {.all = view<S, 4>(to.weights),
          .top_keys = view<std::int64_t, 4>(to.top_keys),
          .top_weights = view<S, 4>(to.top_weights),
          .column_sums = view<S, 3>(to.column_sums),
          .distance_sums = view<S, 4>(to.distance_sums),
          .distance_offset = to.distance_offset,
          .arg_max = view<std::int64_t, 3>(to.arg_max)};
}

template <class T>
BackwardArgs<T> backward_args(const AttendTensors& x, const AttendGrads& grads) {
  using S = StatOf<T>;
  return {.q = view<const T, 4>(x.q),
          .k = view<const T, 4>(x.k),
          .v = view<const T, 4>(x.v),
          .out = view<const T, 4>(x.out),
          .stat = view<const S, 3>(x.stat),
          .d_out = view<const T, 4>(grads.d_out),
          .d_stat = view<const S, 3>(grads.d_stat),
          .d_weights = {.all = view<const S, 4>(grads.d_weights),
                        .column_sums = view<const S, 3>(grads.d_column_sums),
                        .distance_sums = view<const S, 4>(grads.d_distance_sums),
                        .distance_offset = grads.distance_offset},
          .dq = view<T, 4>(grads.dq),
          .dk = view<T, 4>(grads.dk),
          .dv = view<T, 4>(grads.dv),
          .packing = x.sequences.packing(),
          .similarities = view<const S, 4>(x.similarities)};
}

}  // namespace attn::op
