/// Tensor: a handle to numbers that several tensors may share, with a shape, strides, an
/// element type, a device, and a node of the tape.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/shape.hpp"    // IWYU pragma: export
#include "attn/tensor/storage.hpp"  // IWYU pragma: export

namespace attn {

class Node;

/// Copies of a Tensor are the same tensor. Views (reshape, slice, ...) share its storage.
/// Element types: f32, f64, bf16, f16, i64, boolean.
class Tensor {
 public:
  Tensor() = default;  ///< no tensor; defined() is false

  // Made from nothing.
  static Tensor empty(const Shape& shape, DType dtype = DType::f32,
                      Device device = Device::cpu);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32,
                      Device device = Device::cpu);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32,
                     Device device = Device::cpu);
  /// 0, 1, ..., count - 1.
  static Tensor arange(std::int64_t count, DType dtype = DType::i64,
                       Device device = Device::cpu);
  /// Copies `values`, one for each element of `shape`.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return from_bytes(values.data(), values.size(), kDType<T>, shape);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  /// A view of memory of somebody else, row-major, which must stay.
  template <class T>
  static Tensor over(T* data, const Shape& shape) {
    return over_bytes(data, kDType<T>, shape);
  }

  // What it is.
  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const { return defined(); }
  const Shape& shape() const;
  const Shape& strides() const;  ///< in elements
  int rank() const { return shape().rank(); }
  std::int64_t size(int axis) const { return shape()[axis]; }
  std::int64_t numel() const { return shape().numel(); }
  DType dtype() const;
  Device device() const;
  bool is_contiguous() const;
  /// "f32[2, 3]", for messages.
  std::string text() const;

  // Its numbers, in the CPU's memory: of a tensor on the GPU they throw Unsupported, and
  // to(Device::cpu) has them. data<T>() throws InvalidArgument for another element type.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(checked_data(kDType<std::remove_cv_t<T>>));
  }
  /// The same to write through; counts as a write, which the tape will notice.
  template <class T>
  T* mutable_data() const {
    return static_cast<T*>(checked_mutable_data(kDType<T>));
  }
  const void* raw() const;
  void* mutable_raw() const;
  /// The one number of a tensor that has one, as a double. Waits for the GPU, if it is there.
  double item() const;
  /// All numbers in row-major order; T must be the element type. Waits for the GPU likewise.
  template <class T>
  std::vector<T> to_vector() const {
    const Tensor packed = detach().to(Device::cpu).contiguous();
    const T* first = packed.data<T>();
    return std::vector<T>(first, first + numel());
  }

  // Views. They share storage and are on the tape.
  Tensor reshape(const Shape& shape) const;  ///< one extent may be -1; copies if it must
  Tensor transpose(int a, int b) const;
  Tensor permute(const Shape& order) const;
  Tensor slice(int axis, std::int64_t begin, std::int64_t end) const;
  Tensor select(int axis, std::int64_t index) const;  ///< without that axis
  Tensor unsqueeze(int axis) const;
  Tensor squeeze(int axis) const;  ///< of extent 1
  Tensor expand(const Shape& shape) const;
  Tensor flatten(int first, int last) const;

  // Copies.
  Tensor contiguous() const;  ///< itself when it is
  Tensor clone() const;
  Tensor to(DType dtype) const;  ///< itself when it is
  /// Itself when it is there. To the CPU it waits; throws Unsupported without CUDA or a GPU.
  Tensor to(Device device) const;
  Tensor detach() const;  ///< the same numbers, off the tape

  // The tape.
  bool requires_grad() const;
  /// Of a leaf; throws for the result of an op and for whole numbers.
  Tensor& set_requires_grad(bool wanted = true);
  bool is_leaf() const;
  /// The gradient that backward() left here; not defined before.
  Tensor grad() const;
  void zero_grad();
  void set_grad(const Tensor& grad);
  /// Adds d(sum(this * seed))/d(leaf) to every leaf that requires a gradient. `seed` may be
  /// left out for one number. The graph is released.
  void backward(const Tensor& seed = {}) const;

  // Writes in place. Not on the tape: a tensor that takes part in it refuses, unless NoGrad is
  // in force.
  void copy_from(const Tensor& source);
  void fill(double value);

  bool same_as(const Tensor& other) const { return impl_ == other.impl_; }

  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const;  ///< throws InvalidArgument when there is no tensor
  const std::shared_ptr<Impl>& impl_pointer() const { return impl_; }

 private:
  static Tensor from_bytes(const void* data, std::size_t count, DType dtype,
                           const Shape& shape);
  static Tensor over_bytes(const void* data, DType dtype, const Shape& shape);
  const void* checked_data(DType dtype) const;
  void* checked_mutable_data(DType dtype) const;

  std::shared_ptr<Impl> impl_;
};

/// What a tensor is made of, for ops and backends.
struct Tensor::Impl {
  std::shared_ptr<Storage> storage;
  std::int64_t offset = 0;  ///< of the first element, in elements
  Shape shape;
  Shape strides;
  DType dtype = DType::f32;
  bool requires_grad = false;
  Tensor grad;
  std::shared_ptr<Node> node;  ///< what made it; null for a leaf
  int output = 0;              ///< which result of the node
};

}  // namespace attn
