/// Whole numbers that a functor points to, in the memory of the kernels that read them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "tensor/gpu/memory.hpp"

namespace attn::spec {

struct Numbers {
  const int* data;
  std::shared_ptr<const void> owns;

  Numbers(std::shared_ptr<const std::vector<int>> values, Device device)
      : data(values->data()), owns(std::move(values)) {
    if (device == Device::cpu) return;
    const auto& list = *static_cast<const std::vector<int>*>(owns.get());
    const std::size_t bytes = list.size() * sizeof(int);
    const auto room = Storage::allocate(bytes, device);
    gpu::upload(room->data(), list.data(), bytes);
    data = static_cast<const int*>(room->data());
    owns = room;
  }
};

}  // namespace attn::spec
