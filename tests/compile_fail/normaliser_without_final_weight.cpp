// expect: a normaliser needs `V final_weight(V s, V stat, Site<V> at) const`

#include "attn/kernels/erase.hpp"

struct Plain {
  static constexpr attn::Coupling kCoupling = attn::Coupling::none;
  static constexpr bool kRunsMax = false;

  template <class V>
  V weight(V s, V) const {
    return s;
  }
  template <class V>
  V mass(V) const {
    return V(0.0f);
  }
  template <class V, class P>
  attn::Row<V> finish(V, V, const P&) const {
    return {V(1.0f), V(0.0f)};
  }
  template <class V>
  V final_slope(V, V, V, attn::Site<V>) const {
    return V(1.0f);
  }
};

int main() {
  attn::normaliser_stage(Plain{});
}
