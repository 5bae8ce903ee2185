// expect: a mask needs `Cover cover(const Block& block) const`

#include "attn/kernels/erase.hpp"

struct Past {
  template <class V>
  auto keep(attn::Site<V> at) const {
    return at.k <= at.q;
  }
};

int main() {
  attn::mask_stage(Past{});
}
