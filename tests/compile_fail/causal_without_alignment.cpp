// expect: no matching
// expect: attn::mask::Causal

#include "attn/mask/causal.hpp"

int main() {
  return attn::mask::Causal{}.offset;
}
