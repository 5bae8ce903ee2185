#include "tools/conformance/softmax_precision.hpp"

#include <cstdint>
#include <optional>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {

std::optional<DType> float_dtype_of(std::int64_t onnx) {
  switch (onnx) {
    case 1:
      return DType::f32;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

void check_softmax_precision(Attributes& attributes) {
  const auto precision = attributes.whole("softmax_precision");
  if (precision && !float_dtype_of(*precision))
    fail<FileError>("attribute softmax_precision: ", *precision,
                    "; accepted: 1 (f32), 10 (f16), 11 (f64), 16 (bf16)");
}

}  // namespace attn::conformance
