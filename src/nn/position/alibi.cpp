#include "attn/nn/position/alibi.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/score/alibi.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

Tensor alibi_slopes(std::int64_t heads, DType dtype) {
  const Tensor slopes = Tensor::empty({heads}, DType::f64);
  score::fill_alibi_slopes(slopes.mutable_data<double>(), static_cast<int>(heads));
  return slopes.to(dtype);
}

Attended alibi_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Keep& keep,
                         const Want& want, spec::Offset query_offset) {
  return attend(q, k, v, spec::scaled_dot() | spec::alibi(query_offset), keep, spec::softmax(),
                want);
}

}  // namespace attn::nn
