// A build without CUDA: there is no GPU, and it says so.

#include "attn/kernels/gpu/device.hpp"

#include <string>

namespace attn::gpu {

bool available() {
  return false;
}

Capability capability() {
  return {};
}

std::string describe() {
  return "none: this build has no CUDA; cmake --preset cuda makes one that has";
}

}  // namespace attn::gpu
