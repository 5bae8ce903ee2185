/// Memory: where a path computes. The operators ask for the numbers of arrays, and get them in
/// the CPU's memory or as a copy in the GPU's.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <list>
#include <span>
#include <vector>

#include "attn/tensor/tensor.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {

class Memory {
 public:
  explicit Memory(const Path& path) : on_gpu_(path.is_gpu()) {}

  /// The numbers of an array, which must stay.
  template <class T>
  const T* read(const Array& array) {
    if (!on_gpu_) return array.data<T>();
    return static_cast<const T*>(copy(array.bytes));
  }
  /// The same to write to; finish() brings back what became of them.
  template <class T>
  T* write(Array& array) {
    if (!on_gpu_) return array.data<T>();
    void* place = copy(array.bytes);
    written_.push_back({&array, copies_.back()});
    return static_cast<T*>(place);
  }
  /// Numbers that tables, masks and indices point to. Never without memory.
  template <class T>
  const T* keep(std::vector<T> numbers) {
    numbers.push_back(T{});
    const auto bytes = std::as_bytes(std::span(numbers));
    if (on_gpu_) return static_cast<const T*>(copy(bytes));
    kept_.emplace_back(bytes.begin(), bytes.end());
    return reinterpret_cast<const T*>(kept_.back().data());
  }
  /// Room that a kernel of the GPU works in.
  void* workspace(std::size_t bytes);

  void finish();

 private:
  struct Written {
    Array* to;
    Tensor from;
  };

  void* copy(std::span<const std::byte> bytes);

  bool on_gpu_;
  std::list<std::vector<std::byte>> kept_;
  std::vector<Tensor> copies_;
  std::vector<Written> written_;
};

}  // namespace attn::conformance
