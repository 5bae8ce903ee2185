/// What specs lower with: tensors as the tables of a stage, and lists in the memory of the
/// kernels that read them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/engine.hpp"

namespace attn::spec {

/// A stage whose tables are tensors in a shape of spec/stage.hpp.
template <class Any>
Stage<Any> with_tables(const Any& stage, std::vector<Tensor> tensors = {},
                       decltype(&row_table) table = nullptr, const char* where = "") {
  return {[stage, tensors = std::move(tensors), table, where](const Problem& problem) {
    Lowered<Any> lowered{stage};
    for (const Tensor& x : tensors) lowered.tables.push_back(table(x, problem, where));
    return lowered;
  }};
}

/// A list in the memory of a device, which `room` then holds; the CPU reads the list itself.
template <class T>
const T* on(Device device, const std::vector<T>& list, std::shared_ptr<Storage>& room) {
  if (device == Device::cpu) return list.data();
  const std::size_t bytes = list.size() * sizeof(T);
  room = Storage::allocate(bytes, device);
  gpu::upload(room->data(), list.data(), bytes);
  return static_cast<const T*>(room->data());
}

/// Whole numbers that a functor points to.
struct Numbers {
  std::shared_ptr<const std::vector<int>> list;
  std::shared_ptr<Storage> room = {};
  const int* data;

  Numbers(std::shared_ptr<const std::vector<int>> values, Device device)
      : list(std::move(values)), data(on(device, *list, room)) {}
  std::shared_ptr<const void> owns() const {
    if (room != nullptr) return room;
    return list;
  }
};

}  // namespace attn::spec
