#include "attn/tensor/ops/join.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn {
namespace {

/// The shape of the whole; throws unless all extents but one agree.
Shape joined_shape(std::span<const Tensor> parts, int axis, const char* where) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    op::require_same_kind(parts[0], part, where);
    bool fits = part.rank() == shape.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) fits = i == axis || part.size(i) == shape[i];
    if (!fits)
      fail(where, ": ", parts[0].text(), " and ", part.text(), " along axis ", axis,
           "; extents that agree on all other axes are accepted");
    shape[axis] += part.size(axis);
  }
  return shape;
}

/// Writes one part at `begin` along the axis of the whole.
void place(const Tensor& part, int axis, std::int64_t begin, const Tensor& out) {
  if (op::on_gpu(part)) {
    const NoGrad off_the_tape;
    return op::copy(part.detach(), out.slice(axis, begin, begin + part.size(axis)));
  }
  const Tensor packed = part.detach().contiguous();
  const op::AxisExtents from(part.shape(), axis);
  const op::AxisExtents to(out.shape(), axis);
  const auto element = static_cast<std::int64_t>(size_of(part.dtype()));
  const std::int64_t bytes = from.extent * from.inner * element;
  const std::int64_t step = to.extent * to.inner * element;
  const auto* source = static_cast<const std::byte*>(packed.raw());
  auto* target = static_cast<std::byte*>(out.mutable_raw()) + begin * to.inner * element;
  op::each(from.outer, from.extent * from.inner, [&](std::int64_t row) {
    std::memcpy(target + row * step, source + row * bytes, static_cast<std::size_t>(bytes));
  });
}

/// The slices of the gradient that belong to the parts.
Gradients split(const Tensor& grad, int axis, const std::vector<std::int64_t>& extents,
                const Needs& needs) {
  Gradients result(extents.size());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (needs[i]) result[i] = grad.slice(axis, begin, begin + extents[i]);
    begin += extents[i];
  }
  return result;
}

}  // namespace

Tensor concat(std::span<const Tensor> parts, int axis) {
  constexpr const char* kWhere = "attn::concat";
  if (parts.empty()) fail(kWhere, ": nothing to join; one tensor or more is accepted");
  axis = normal_axis(axis, parts[0].rank(), kWhere);
  Tensor out =
      Tensor::empty(joined_shape(parts, axis, kWhere), parts[0].dtype(), parts[0].device());
  std::vector<std::int64_t> extents;
  std::int64_t begin = 0;
  for (const Tensor& part : parts) {
    place(part, axis, begin, out);
    begin += part.size(axis);
    extents.push_back(part.size(axis));
  }
  record("concat", parts, {&out, 1},
         [axis, extents](const Gradients& grads, const Needs& needs) {
           return split(grads[0], axis, extents, needs);
         });
  return out;
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  return concat(std::span<const Tensor>(parts), axis);
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) fail("attn::stack: nothing to join; one tensor or more is accepted");
  axis = normal_axis(axis, parts[0].rank() + 1, "attn::stack");
  std::vector<Tensor> slices;
  for (const Tensor& part : parts) {
    op::require_shape(part, parts[0].shape(), "attn::stack", "a part");
    slices.push_back(part.unsqueeze(axis));
  }
  return concat(slices, axis);
}

Tensor pad(const Tensor& x, int axis, std::int64_t before, std::int64_t after) {
  constexpr const char* kWhere = "attn::pad";
  axis = normal_axis(axis, x.rank(), kWhere);
  if (before < 0 || after < 0)
    fail(kWhere, ": ", before, " before and ", after, " after; 0 and more are accepted");
  Shape shape = x.shape();
  shape[axis] += before + after;
  const Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
  place(x, axis, before, out);
  return op::record_one("pad", x, out,
                        [axis, before, extent = x.size(axis)](const Tensor& grad) {
                          return grad.slice(axis, before, before + extent);
                        });
}

}  // namespace attn
