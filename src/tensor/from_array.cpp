#include "attn/tensor/from_array.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/files/array.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

Tensor from_array(const files::ArrayView& array) {
  Tensor tensor = Tensor::empty(Shape(std::span(array.shape)), array.dtype);
  if (!array.bytes.empty())
    std::memcpy(tensor.mutable_raw(), array.bytes.data(), array.bytes.size());
  return tensor;
}

files::ArrayView to_array(std::string name, const Tensor& packed) {
  const auto size = static_cast<std::size_t>(packed.numel()) * size_of(packed.dtype());
  return {std::move(name),
          packed.dtype(),
          {packed.shape().begin(), packed.shape().end()},
          {static_cast<const std::byte*>(packed.raw()), size}};
}

}  // namespace attn
