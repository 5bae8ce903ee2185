/// Looking numbers up on the GPU, and adding them back in an order that never changes. All
/// tensors are packed; an index that does not exist is reported, reads 0 and adds nothing.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

namespace attn::gpu {

/// What a message calls an op and its index.
struct IndexNames {
  const char* where;  ///< "attn::embedding"
  const char* what;   ///< "id"
};

/// out[outer, i, inner] = x[outer, index[i], inner] around `axis`.
void choose_places(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
                   const Tensor& out);
/// Its gradient: out[outer, p, inner] = the sum of grad[outer, i, inner] where index[i] is p.
void add_places(const Tensor& grad, int axis, const Tensor& index, const Tensor& out);

/// out[outer, i, inner] = x[outer, index[outer, i, inner], inner].
void gather(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
            const Tensor& out);
/// out, which holds zeros, gets x added at index.
void scatter_add(const Tensor& x, int axis, const Tensor& index, const IndexNames& names,
                 const Tensor& out);

}  // namespace attn::gpu
