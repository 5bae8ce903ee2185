// Views of tensors: they share storage, and their gradients go back where they came from.

#include <cstdint>
#include <memory>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

/// The same storage under another shape, off the tape.
Tensor view_of(const Tensor& x, const Shape& shape, const Shape& strides,
               std::int64_t offset = 0) {
  auto impl = std::make_shared<Tensor::Impl>();
  const Tensor::Impl& own = x.impl();
  impl->storage = own.storage;
  impl->offset = own.offset + offset;
  impl->shape = shape;
  impl->strides = strides;
  impl->dtype = own.dtype;
  return Tensor(std::move(impl));
}

/// The shape with its -1 worked out.
Shape resolved(const Shape& wanted, const Tensor& x) {
  Shape shape = wanted;
  std::int64_t known = 1;
  int open = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == -1 && open < 0) {
      open = axis;
    } else {
      known *= shape[axis];
    }
  }
  if (open >= 0 && known > 0) shape[open] = x.numel() / known;
  if (shape.numel() != x.numel() || (open >= 0 && known <= 0))
    fail("attn::Tensor::reshape: ", x.text(), " as ", wanted.text(), "; ", x.numel(),
         " elements are accepted, and one -1");
  return shape;
}

}  // namespace

Tensor Tensor::reshape(const Shape& wanted) const {
  const Shape target = resolved(wanted, *this);
  if (target == shape()) return *this;
  const Tensor packed = contiguous();
  return op::record_one("reshape", packed, view_of(packed, target, packed_strides(target)),
                        [from = shape()](const Tensor& grad) { return grad.reshape(from); });
}

Tensor Tensor::permute(const Shape& order) const {
  if (order.rank() != rank())
    fail("attn::Tensor::permute: order ", order.text(), " for ", text(), "; ", rank(),
         " axes are accepted");
  Shape to = shape();
  Shape by = strides();
  Shape back = Shape::filled(rank(), -1);
  for (int axis = 0; axis < rank(); ++axis) {
    const int from =
        normal_axis(static_cast<int>(order[axis]), rank(), "attn::Tensor::permute");
    if (back[from] >= 0)
      fail("attn::Tensor::permute: order ", order.text(), " names axis ", from, " twice");
    back[from] = axis;
    to[axis] = shape()[from];
    by[axis] = strides()[from];
  }
  return op::record_one("permute", *this, view_of(*this, to, by),
                        [back](const Tensor& grad) { return grad.permute(back); });
}

Tensor Tensor::transpose(int a, int b) const {
  Shape order;
  for (int axis = 0; axis < rank(); ++axis) order.push_back(axis);
  std::swap(order[a], order[b]);
  return permute(order);
}

Tensor Tensor::slice(int axis, std::int64_t begin, std::int64_t end) const {
  axis = normal_axis(axis, rank(), "attn::Tensor::slice");
  const std::int64_t extent = size(axis);
  if (begin < 0 || end < begin || end > extent)
    fail("attn::Tensor::slice: [", begin, ", ", end, ") of axis ", axis, " of ", text(),
         "; 0 <= begin <= end <= ", extent, " is accepted");
  if (begin == 0 && end == extent) return *this;
  Shape part = shape();
  part[axis] = end - begin;
  return op::record_one("slice", *this,
                        view_of(*this, part, strides(), begin * strides()[axis]),
                        [full = shape(), axis, begin, end](const Tensor& grad) {
                          const Tensor whole = Tensor::zeros(full, grad.dtype(), grad.device());
                          whole.slice(axis, begin, end).copy_from(grad);
                          return whole;
                        });
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  axis = normal_axis(axis, rank(), "attn::Tensor::select");
  if (index < 0 || index >= size(axis))
    fail("attn::Tensor::select: index ", index, " of axis ", axis, " of ", text(), "; 0 to ",
         size(axis) - 1, " are accepted");
  return slice(axis, index, index + 1).squeeze(axis);
}

Tensor Tensor::unsqueeze(int axis) const {
  axis = normal_axis(axis, rank() + 1, "attn::Tensor::unsqueeze");
  Shape to = shape();
  Shape by = strides();
  to.insert(axis, 1);
  by.insert(axis, 0);
  return op::record_one("unsqueeze", *this, view_of(*this, to, by),
                        [axis](const Tensor& grad) { return grad.squeeze(axis); });
}

Tensor Tensor::squeeze(int axis) const {
  axis = normal_axis(axis, rank(), "attn::Tensor::squeeze");
  if (size(axis) != 1)
    fail("attn::Tensor::squeeze: axis ", axis, " of ", text(), "; extent 1 is accepted");
  Shape to = shape();
  Shape by = strides();
  to.erase(axis);
  by.erase(axis);
  return op::record_one("squeeze", *this, view_of(*this, to, by),
                        [axis](const Tensor& grad) { return grad.unsqueeze(axis); });
}

Tensor Tensor::expand(const Shape& wanted) const {
  if (wanted == shape()) return *this;
  Shape by = Shape::filled(wanted.rank(), 0);
  bool fits = rank() <= wanted.rank();
  for (int axis = 1; fits && axis <= rank(); ++axis) {
    fits = size(-axis) == wanted[-axis] || size(-axis) == 1;
    if (size(-axis) != 1) by[-axis] = strides()[-axis];
  }
  if (!fits)
    fail("attn::Tensor::expand: ", text(), " to ", wanted.text(),
         "; extents of 1 and new leading axes stretch, nothing else");
  return op::record_one("expand", *this, view_of(*this, wanted, by),
                        [from = shape()](const Tensor& grad) { return sum_to(grad, from); });
}

Tensor Tensor::flatten(int first, int last) const {
  first = normal_axis(first, rank(), "attn::Tensor::flatten");
  last = normal_axis(last, rank(), "attn::Tensor::flatten");
  Shape to;
  std::int64_t joined = 1;
  for (int axis = 0; axis < rank(); ++axis) {
    if (axis >= first && axis <= last) {
      joined *= size(axis);
      if (axis == last) to.push_back(joined);
    } else {
      to.push_back(size(axis));
    }
  }
  return reshape(to);
}

}  // namespace attn
