#include "tools/conformance/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "attn/core/dtype.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::conformance {
namespace {

/// Booleans are bytes, whatever they mean.
Tensor room(std::size_t bytes, Device device) {
  return Tensor::empty({static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))},
                       DType::boolean, device);
}

}  // namespace

void* Memory::copy(std::span<const std::byte> bytes) {
  const Tensor here = room(bytes.size(), Device::cpu);
  if (!bytes.empty()) std::memcpy(here.mutable_data<bool>(), bytes.data(), bytes.size());
  copies_.push_back(here.to(Device::gpu));
  return op::address(copies_.back());
}

void* Memory::workspace(std::size_t bytes) {
  copies_.push_back(room(bytes, Device::gpu));
  return op::address(copies_.back());
}

void Memory::finish() {
  for (const Written& one : written_) {
    const Tensor here = one.from.to(Device::cpu);
    std::memcpy(one.to->bytes.data(), here.raw(), one.to->bytes.size());
  }
  written_.clear();
}

}  // namespace attn::conformance
