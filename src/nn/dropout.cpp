#include "attn/nn/dropout.hpp"

#include "attn/nn/init.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {

Tensor Dropout::operator()(const Tensor& x) const {
  return training() ? dropout(x, probability_, random()) : x;
}

}  // namespace attn::nn
