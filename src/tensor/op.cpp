#include "tensor/op.hpp"

#include <cstddef>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::op {

void require_real(const Tensor& x, const char* where, const char* name) {
  if (!x.defined()) fail(where, ": ", name, " is no tensor");
  if (!is_real(x.dtype()))
    fail(where, ": ", name, " is ", x.text(), "; f32, f64, bf16 and f16 are accepted");
}

void require_dtype(const Tensor& x, DType dtype, const char* where, const char* name) {
  if (!x.defined()) fail(where, ": ", name, " is no tensor; ", name_of(dtype), " is accepted");
  if (x.dtype() != dtype)
    fail(where, ": ", name, " is ", x.text(), "; ", name_of(dtype), " is accepted");
}

void require_same_kind(const Tensor& a, const Tensor& b, const char* where) {
  if (!a.defined() || !b.defined()) fail(where, ": an input is no tensor");
  if (a.dtype() != b.dtype())
    fail(where, ": ", a.text(), " and ", b.text(), " differ in dtype; convert one with to()");
  require_same_device(a, b, where);
}

void require_same_device(const Tensor& a, const Tensor& b, const char* where) {
  if (a.device() != b.device())
    fail(where, ": ", a.text(), " is on ", name_of(a.device()), " and ", b.text(), " on ",
         name_of(b.device()), "; one device is accepted, and to(Device) moves a tensor");
}

void* address(const Tensor& x) {
  const Tensor::Impl& impl = x.impl();
  return static_cast<std::byte*>(impl.storage->data()) +
         impl.offset * static_cast<std::ptrdiff_t>(size_of(impl.dtype));
}

void require_shape(const Tensor& x, const Shape& shape, const char* where, const char* name) {
  if (!x.defined()) fail(where, ": ", name, " is no tensor; ", shape.text(), " is accepted");
  if (!(x.shape() == shape))
    fail(where, ": ", name, " is ", x.text(), "; ", shape.text(), " is accepted");
}

}  // namespace attn::op
