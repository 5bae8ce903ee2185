// expect: a score functor needs `V forward(V s, Site<V> at) const` for every number type V

#include "attn/kernels/erase.hpp"

struct Doubled {
  template <class V>
  V forward(V s) const {
    return s + s;
  }
};

int main() {
  attn::score_stage(Doubled{});
}
