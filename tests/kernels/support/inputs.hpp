/// Inputs: the numbers of a problem in one element type and in the layouts asked for, and the
/// arguments of the kernels over them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/args.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/strided.hpp"

namespace attn::test {

/// The numbers of a problem in one element type.
template <class T>
struct Inputs {
  using S = StatOf<T>;

  const Problem& p;
  Strided<T> q, k, v, out, d_out, dq, dk, dv;
  Strided<S> stat, d_stat, d_all, d_columns, d_distances, similarities;

  Inputs(const Problem& problem, Lay q_lay, Lay kv_lay, Lay out_lay)
      : p(problem),
        q(p.q_shape(), q_lay, p.q),
        k(p.k_shape(), kv_lay, p.k),
        v(p.v_shape(), kv_lay, p.v),
        out(p.out_shape(), out_lay),
        d_out(p.out_shape(), q_lay, p.d_out),
        dq(p.q_shape(), out_lay),
        dk(p.k_shape(), out_lay),
        dv(p.v_shape(), out_lay),
        stat(stat_shape(), out_lay),
        d_stat(stat_shape(), q_lay),
        d_all({0, 0, 0, 0}, Lay::packed),
        d_columns({0, 0, 0, 0}, Lay::packed),
        d_distances({0, 0, 0, 0}, Lay::packed),
        similarities(p.weights_shape(), Lay::padded) {
    if (p.spec.d_stat) d_stat = Strided<S>(stat_shape(), q_lay, p.d_stat);
    if (!p.spec.d_weights) return;
    const std::int64_t b = p.spec.batch, h = p.spec.heads(), n = p.spec.queries;
    d_all = Strided<S>(p.weights_shape(), q_lay, p.d_all);
    d_columns = Strided<S>({b, h, p.spec.keys, 1}, q_lay, p.d_columns);
    d_distances = Strided<S>({b, h, n, 2 * p.distance_reach + 1}, q_lay, p.d_distances);
  }
  Shape stat_shape() const { return {p.spec.batch, p.spec.heads(), p.spec.queries, 1}; }

  template <class U>
  static View<U, 3> flat(Strided<U>& array) {
    const View<U, 4> all = array.view();
    return {all.data,
            {all.shape[0], all.shape[1], all.shape[2]},
            {all.strides[0], all.strides[1], all.strides[2]}};
  }

  ForwardArgs<T> forward_args(bool with_stat) {
    ForwardArgs<T> args{.q = q.view(), .k = k.view(), .v = v.view(), .out = out.view()};
    if (with_stat) args.stat = flat(stat);
    if (with_stat && p.spec.keep) args.similarities = similarities.view();
    return args;
  }
  BackwardArgs<T> backward_args() {
    BackwardArgs<T> args{.q = q.view(),
                         .k = k.view(),
                         .v = v.view(),
                         .out = out.view(),
                         .stat = flat(stat),
                         .d_out = d_out.view(),
                         .dq = dq.view(),
                         .dk = dk.view(),
                         .dv = dv.view()};
    if (p.spec.d_stat) args.d_stat = flat(d_stat);
    if (p.spec.keep) args.similarities = similarities.view();
    if (p.spec.d_weights) {
      args.d_weights.all = d_all.view();
      args.d_weights.column_sums = flat(d_columns);
      args.d_weights.distance_sums = d_distances.view();
      args.d_weights.distance_offset = p.distance_offset;
    }
    return args;
  }
};

}  // namespace attn::test
