/// The GPU's half of the ops: launches that take tensors on the GPU.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/gemm/conv.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/ops/axis_extents.hpp"
#include "tensor/pointwise_functors.hpp"
#include "tensor/random_draw.hpp"

namespace attn::gpu {

// Memory, from a pool that keeps what is given back, in the order of a stream.

/// Not initialised. It may be used by what is queued on stream() from now on.
void* allocate(std::size_t bytes);
/// Gives back what allocate(bytes) gave while stream() was `owner`. Never throws: it runs in
/// destructors, and at the end of the program the driver may be gone.
void release(void* data, std::size_t bytes, Stream owner) noexcept;

/// From the CPU's memory, which may be reused at once.
void upload(void* to, const void* from, std::size_t bytes);
/// To the CPU's memory, and waits, as synchronise() does.
void download(void* to, const void* from, std::size_t bytes);
void clear(void* to, std::size_t bytes);

// Moving numbers between tensors of any strides and element types.

/// to = from, converted; the shapes are equal.
void copy(const Tensor& from, const Tensor& to);
void fill(const Tensor& to, double value);
/// 0, 1, ..., in a packed i64 tensor.
void count_up(const Tensor& to);

// Pointwise work, in any type of real numbers, any strides.

/// y = f(x).
void unary_forward(pointwise::UnaryOp op, double a, double b, const Tensor& x, const Tensor& y);
/// dx = grad * slope(x); f(x) is made again, which costs less than reading it.
void unary_backward(pointwise::UnaryOp op, double a, double b, const Tensor& grad,
                    const Tensor& x, const Tensor& dx);
/// out = f(a, b); a and b broadcast to out.
void binary(pointwise::BinaryOp op, const Tensor& a, const Tensor& b, const Tensor& out);

/// out = keep ? a : b; all three broadcast to out.
void choose(const Tensor& keep, const Tensor& a, const Tensor& b, const Tensor& out);

/// Booleans: a && b, which broadcast to out; !a.
void logical_and(const Tensor& a, const Tensor& b, const Tensor& out);
void logical_not(const Tensor& a, const Tensor& out);
/// out[b, i] = i < lengths[b], for packed tensors. Lengths outside of 0..extent are reported.
void length_mask(const Tensor& lengths, const Tensor& out);

// Reductions, in an order that the shape alone decides.

/// Packed x seen as [outer, extent, inner] is summed to packed out [outer, inner]. Both are of
/// one type, or out is the wider type that sums of x run in.
void sum_middle(const Tensor& x, const op::AxisExtents& extents, const Tensor& out);

/// The first place of the largest along the extent, as i64 [outer, inner].
void argmax(const Tensor& x, const op::AxisExtents& extents, const Tensor& out);

/// The largest of each row of packed f32 x, as top() of attn/tensor/ops/reduce.hpp has them.
void top(const Tensor& x, const Tensor& out);

// Work on the rows of packed tensors.

/// `keep` is boolean in the shape of x, with any strides, or no tensor.
void softmax(const Tensor& x, const Tensor& keep, const Tensor& out);
void softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx);
void log_softmax(const Tensor& x, const Tensor& out);
void log_softmax_backward(const Tensor& y, const Tensor& grad, const Tensor& dx);

/// Weight and bias, which may be no tensors, and moments [rows, 2] are of the type that sums of
/// x run in. Moments gets mean and scale of each row.
void layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                const Tensor& moments, const Tensor& out);
/// What is no tensor is not wanted. sums [2, columns]: the gradients of weight and bias.
void layer_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& moments,
                         const Tensor& grad, const Tensor& dx, const Tensor& sums);

struct CrossEntropy {
  double smoothing;
  std::int64_t ignored;
};
/// loss, one number, and statistics [rows, 2] are of the type that sums of x run in; count, one
/// f64, gets how many targets count. A target that is no class is reported.
void cross_entropy(const Tensor& x, const Tensor& targets, const CrossEntropy& options,
                   const Tensor& statistics, const Tensor& loss, const Tensor& count);
/// grad is one number, of the type of the loss.
void cross_entropy_backward(const Tensor& x, const Tensor& targets, const Tensor& statistics,
                            const Tensor& count, const Tensor& grad,
                            const CrossEntropy& options, const Tensor& dx);

// Looking numbers up, and adding them back in an order that never changes. All tensors are
// packed; an index that does not exist is reported, reads 0 and adds nothing.

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

// Merging attention over two sets of keys.

/// in = {output of a, log-sum-exp of a, output of b, log-sum-exp of b}, packed f32 or f64: the
/// output and the log-sum-exp of both.
void merge(const std::array<Tensor, 4>& in, const Tensor& out, const Tensor& log_sum_exp);
/// down = the gradients of in.
void merge_backward(const std::array<Tensor, 4>& in, const Tensor& d_out,
                    const Tensor& d_log_sum_exp, const std::array<Tensor, 4>& down);

// Random numbers: the CPU's own, place by place.

/// Packed tensors of one type: y = keep * x, or 0 where the draw drops it.
void dropout(const op::DropoutDraw& draw, const Tensor& x, const Tensor& y);

/// Packed f64.
void draw(const op::UniformDraw& draw, std::uint64_t key, const Tensor& out);
void draw(const op::NormalDraw& draw, std::uint64_t key, const Tensor& out);

// What a convolution's kernel sees at each place, as the columns of a matrix; and back.

/// x [batch, in, height, width] -> columns [in * kernel, batch * places], zeros where there are
/// pads. Packed f32 or f64.
void unfold(const gemm::ConvShape& shape, const Tensor& x, const Tensor& columns);
/// Its gradient: every number of x is the sum of the columns' entries that saw it.
void fold(const gemm::ConvShape& shape, const Tensor& columns, const Tensor& x);

}  // namespace attn::gpu
