#include "attn/tensor/from_array.hpp"

#include <cstring>
#include <span>

#include "attn/files/array.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

Tensor from_array(const files::ArrayView& array) {
  Tensor tensor = Tensor::empty(Shape(std::span(array.shape)), array.dtype);
  if (!array.bytes.empty())
    std::memcpy(tensor.mutable_raw(), array.bytes.data(), array.bytes.size());
  return tensor;
}

}  // namespace attn
