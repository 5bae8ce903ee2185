// expect: a functor must be trivially copyable: kernels copy it as plain bytes

#include <vector>

#include "attn/kernels/erase.hpp"

struct Biased {
  std::vector<float> bias;

  template <class V>
  V forward(V s, attn::Site<V> at) const {
    return s + bias[at.head];
  }
};

int main() {
  attn::score_stage(Biased{});
}
