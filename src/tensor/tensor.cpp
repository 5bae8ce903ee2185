#include "attn/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tape.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

void check_shape(const Shape& shape, DType dtype) {
  constexpr std::int64_t kMost = INT64_MAX / 16;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      fail("attn::Tensor: shape ", shape.text(), "; extents of 0 and more are accepted");
    if (extent > 0 && count > kMost / extent)
      fail("attn::Tensor: shape ", shape.text(), " has more elements than memory");
    if (extent > 0) count *= extent;
  }
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::bf16:
    case DType::f16:
    case DType::i64:
    case DType::boolean:
      return;
    default:
      fail("attn::Tensor: dtype ", name_of(dtype),
           "; f32, f64, bf16, f16, i64 and boolean are accepted");
  }
}

}  // namespace

Tensor::Impl& Tensor::impl() const {
  if (!impl_) fail("attn::Tensor: used without a tensor in it");
  return *impl_;
}

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  check_shape(shape, dtype);
  auto impl = std::make_shared<Impl>();
  impl->storage =
      Storage::allocate(static_cast<std::size_t>(shape.numel()) * size_of(dtype), device);
  impl->shape = shape;
  impl->strides = packed_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  const Tensor result = empty(shape, dtype, device);
  // All bits zero is 0 in every element type.
  const std::size_t bytes = static_cast<std::size_t>(shape.numel()) * size_of(dtype);
  if (device == Device::gpu) {
    gpu::clear(op::address(result), bytes);
  } else {
    std::memset(result.mutable_raw(), 0, bytes);
  }
  return result;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor result = empty(shape, dtype, device);
  result.fill(value);
  return result;
}

Tensor Tensor::arange(std::int64_t count, DType dtype, Device device) {
  const Tensor whole = empty({count}, DType::i64, device);
  op::dispatch_device(
      whole,
      [&] {
        auto* numbers = whole.mutable_data<std::int64_t>();
        std::iota(numbers, numbers + count, std::int64_t{0});
      },
      [&] { gpu::count_up(whole); });
  return whole.to(dtype);
}

Tensor Tensor::from_bytes(const void* data, std::size_t count, DType dtype,
                          const Shape& shape) {
  const Tensor result = empty(shape, dtype);
  if (static_cast<std::int64_t>(count) != shape.numel())
    fail("attn::Tensor::from: ", count, " values for the shape ", shape.text(), "; ",
         shape.numel(), " are accepted");
  if (count > 0) std::memcpy(result.mutable_raw(), data, count * size_of(dtype));
  return result;
}

Tensor Tensor::over_bytes(const void* data, DType dtype, const Shape& shape) {
  check_shape(shape, dtype);
  auto impl = std::make_shared<Impl>();
  impl->storage = Storage::adopt(
      const_cast<void*>(data), static_cast<std::size_t>(shape.numel()) * size_of(dtype), [] {});
  impl->shape = shape;
  impl->strides = packed_strides(shape);
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

const Shape& Tensor::shape() const {
  return impl().shape;
}
const Shape& Tensor::strides() const {
  return impl().strides;
}
DType Tensor::dtype() const {
  return impl().dtype;
}
Device Tensor::device() const {
  return impl().storage->device();
}

bool Tensor::is_contiguous() const {
  std::int64_t step = 1;
  for (int axis = rank(); axis-- > 0;) {
    if (size(axis) != 1 && strides()[axis] != step) return numel() == 0;
    step *= size(axis);
  }
  return true;
}

std::string Tensor::text() const {
  return defined() ? std::string(name_of(dtype())) + shape().text() : "no tensor";
}

const void* Tensor::raw() const {
  if (device() != Device::cpu)
    fail<Unsupported>("attn::Tensor: ", text(), " is on ", name_of(device()),
                      ", and the CPU was to read or write it; to(Device::cpu) moves it");
  return op::address(*this);
}
void* Tensor::mutable_raw() const {
  const void* data = raw();
  impl().storage->wrote();
  return const_cast<void*>(data);
}
const void* Tensor::checked_data(DType wanted) const {
  if (dtype() != wanted) fail("attn::Tensor::data: ", text(), " read as ", name_of(wanted));
  return raw();
}
void* Tensor::checked_mutable_data(DType wanted) const {
  if (dtype() != wanted)
    fail("attn::Tensor::mutable_data: ", text(), " written as ", name_of(wanted));
  return mutable_raw();
}

double Tensor::item() const {
  if (numel() != 1) fail("attn::Tensor::item: ", text(), "; one number is accepted");
  const Tensor wide = detach().to(Device::cpu).to(DType::f64);
  return *wide.data<double>();
}

Tensor Tensor::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Tensor Tensor::clone() const {
  const Tensor result = empty(shape(), dtype(), device());
  op::copy(*this, result);
  return record("clone", {*this}, result,
                [](const Gradients& grads, const Needs&) { return grads; });
}

Tensor Tensor::to(DType wanted) const {
  if (dtype() == wanted) return *this;
  Tensor result = empty(shape(), wanted, device());
  op::copy(*this, result);
  if (!op::is_real(wanted) || !op::is_real(dtype())) return result;
  return op::record_one("to", *this, result,
                        [from = dtype()](const Tensor& grad) { return grad.to(from); });
}

Tensor Tensor::to(Device wanted) const {
  if (device() == wanted) return *this;
  Tensor result = empty(shape(), dtype(), wanted);
  op::copy(*this, result);
  if (!op::is_real(dtype())) return result;
  return op::record_one("to", *this, result,
                        [from = device()](const Tensor& grad) { return grad.to(from); });
}

Tensor Tensor::detach() const {
  auto copy = std::make_shared<Impl>(impl());
  copy->requires_grad = false;
  copy->grad = {};
  copy->node = nullptr;
  copy->output = 0;
  return Tensor(std::move(copy));
}

bool Tensor::requires_grad() const {
  return impl().requires_grad;
}
bool Tensor::is_leaf() const {
  return impl().node == nullptr;
}

Tensor& Tensor::set_requires_grad(bool wanted) {
  if (!is_leaf())
    fail("attn::Tensor::set_requires_grad: ", text(), " is the result of ", impl().node->name,
         "; a leaf, or detach() of this, is accepted");
  if (wanted && !op::is_real(dtype()))
    fail("attn::Tensor::set_requires_grad: ", text(), "; real numbers are accepted");
  impl().requires_grad = wanted;
  return *this;
}

Tensor Tensor::grad() const {
  return impl().grad;
}
void Tensor::zero_grad() {
  impl().grad = {};
}
void Tensor::set_grad(const Tensor& grad) {
  if (grad.defined()) {
    op::require_shape(grad, shape(), "attn::Tensor::set_grad", "the gradient");
    op::require_same_kind(*this, grad, "attn::Tensor::set_grad");
  }
  impl().grad = grad;
}

void Tensor::backward(const Tensor& seed) const {
  attn::backward({this, 1}, {&seed, 1});
}

namespace {
void check_write(const Tensor& to, const char* where) {
  if (grad_enabled() && to.requires_grad())
    fail(where, ": ", to.text(),
         to.is_leaf() ? " is a leaf that requires a gradient" : " is on the tape",
         "; write under NoGrad, or to a detached copy");
}
}  // namespace

void Tensor::copy_from(const Tensor& source) {
  check_write(*this, "attn::Tensor::copy_from");
  impl().storage->wrote();
  op::copy(source.detach().expand(shape()), *this);
}

void Tensor::fill(double value) {
  check_write(*this, "attn::Tensor::fill");
  impl().storage->wrote();
  op::fill(*this, value);
}

}  // namespace attn
