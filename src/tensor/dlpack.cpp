#include "attn/tensor/dlpack.hpp"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {
namespace {

/// kDLBool came with version 0.8 of the header; the layout is that of 0.6.
constexpr std::uint8_t kBool = 6;

/// What the numbers of an exported tensor need to stay.
struct Exported {
  DLManagedTensor managed{};
  Tensor tensor;
  std::array<std::int64_t, Shape::kMaxRank> shape{};
  std::array<std::int64_t, Shape::kMaxRank> strides{};
};

DLDataType code_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  switch (dtype) {
    case DType::i64:
      return {kDLInt, bits, 1};
    case DType::bf16:
      return {kDLBfloat, bits, 1};
    case DType::boolean:
      return {kBool, bits, 1};
    default:
      return {kDLFloat, bits, 1};
  }
}

DType dtype_of(const DLDataType& type) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::boolean}) {
    const DLDataType own = code_of(dtype);
    if (own.code == type.code && own.bits == type.bits && type.lanes == 1) return dtype;
  }
  fail<Unsupported>("attn::from_dlpack: type code ", int{type.code}, " of ", int{type.bits},
                    " bits and ", type.lanes,
                    " lanes; f64, f32, f16, bf16, i64 and boolean of one lane are accepted");
}

/// More elements than any memory has.
constexpr std::int64_t kTooMany = std::int64_t{1} << 58;

Shape shape_of(const DLTensor& from) {
  if (from.ndim < 0 || from.ndim > Shape::kMaxRank)
    fail<Unsupported>("attn::from_dlpack: ", from.ndim, " axes; 0 to ", Shape::kMaxRank,
                      " are accepted");
  if (from.ndim > 0 && from.shape == nullptr) fail("attn::from_dlpack: there is no shape");
  Shape shape;
  for (int axis = 0; axis < from.ndim; ++axis) shape.push_back(from.shape[axis]);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > kTooMany / extent))
      fail("attn::from_dlpack: shape ", shape.text(),
           "; extents of 0 and more that memory can hold are accepted");
    count *= std::max<std::int64_t>(1, extent);
  }
  return shape;
}

Shape strides_of(const DLTensor& from, const Shape& shape) {
  if (from.strides == nullptr) return packed_strides(shape);
  Shape strides;
  for (int axis = 0; axis < from.ndim; ++axis) strides.push_back(from.strides[axis]);
  for (const std::int64_t stride : strides)
    if (stride < 0 || stride > kTooMany)
      fail<Unsupported>("attn::from_dlpack: strides ", strides.text(),
                        "; 0 and more that memory can hold are accepted");
  return strides;
}

/// Elements from the first to one past the last.
std::int64_t reach(const Shape& shape, const Shape& strides) {
  std::int64_t last = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 0) return 0;
    const std::int64_t steps = shape[axis] - 1;
    if (steps > 0 && strides[axis] > (kTooMany - last) / steps)
      fail("attn::from_dlpack: shape ", shape.text(), " with strides ", strides.text(),
           " reaches further than memory");
    last += steps * strides[axis];
  }
  return last + 1;
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& x) {
  auto own = std::make_unique<Exported>();
  own->tensor = x.detach();
  std::copy(x.shape().begin(), x.shape().end(), own->shape.begin());
  std::copy(x.strides().begin(), x.strides().end(), own->strides.begin());
  if (x.device() != Device::cpu)
    fail<Unsupported>("attn::to_dlpack: ", x.text(), " is on ", name_of(x.device()),
                      "; the CPU's memory is accepted");
  DLTensor& to = own->managed.dl_tensor;
  to.data = const_cast<void*>(x.raw());
  to.device = {kDLCPU, 0};
  to.ndim = x.rank();
  to.dtype = code_of(x.dtype());
  to.shape = own->shape.data();
  to.strides = own->strides.data();
  to.byte_offset = 0;
  own->managed.manager_ctx = own.get();
  own->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &own.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  if (managed == nullptr) fail("attn::from_dlpack: there is no tensor");
  const DLTensor& from = managed->dl_tensor;
  if (from.device.device_type != kDLCPU)
    fail<Unsupported>("attn::from_dlpack: device type ",
                      static_cast<int>(from.device.device_type), "; 1, the CPU, is accepted");
  auto impl = std::make_shared<Tensor::Impl>();
  impl->dtype = dtype_of(from.dtype);
  impl->shape = shape_of(from);
  impl->strides = strides_of(from, impl->shape);
  const std::int64_t elements = reach(impl->shape, impl->strides);
  const std::size_t size = size_of(impl->dtype);
  auto* data = static_cast<std::byte*>(from.data);
  if (elements > 0 && data == nullptr) fail("attn::from_dlpack: there is no memory");
  if (data != nullptr) data += from.byte_offset;
  if (reinterpret_cast<std::uintptr_t>(data) % size != 0)
    fail<Unsupported>("attn::from_dlpack: numbers of ", size, " bytes at address ", data,
                      "; a multiple of their size is accepted");
  impl->storage = Storage::adopt(data, static_cast<std::size_t>(elements) * size, [managed] {
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  return Tensor(std::move(impl));
}

}  // namespace attn
