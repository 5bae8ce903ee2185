/// Packed sequences for kernels that take one after the other.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/error.hpp"

namespace attn::gpu {

/// The offsets of packed sequences in the CPU's memory: they decide how much there is to do.
/// Bringing them there waits for the stream.
class Sequences {
 public:
  Sequences(const Packing& packing, cudaStream_t stream) : count_(packing.count) {
    fetch(packing.q, q_, stream);
    fetch(packing.k, k_, stream);
    if (packing.q != nullptr || packing.k != nullptr)
      ATTN_CUDA_CALL(cudaStreamSynchronize(stream));
  }

  bool any() const { return !q_.empty() || !k_.empty(); }
  std::int64_t count() const { return count_; }
  /// As validate() reads them.
  Packing packing() const {
    return {q_.empty() ? nullptr : q_.data(), k_.empty() ? nullptr : k_.data(), count_};
  }

  /// The arguments of one sequence: its rows, for whatever batch a kernel asks.
  template <class T>
  ForwardArgs<T> of(ForwardArgs<T> args, std::int64_t sequence) const {
    cut(q_, sequence, args.q, args.out, args.stat);
    cut(k_, sequence, args.k, args.v);
    args.packing = {};
    return args;
  }
  template <class T>
  BackwardArgs<T> of(BackwardArgs<T> args, std::int64_t sequence) const {
    cut(q_, sequence, args.q, args.out, args.stat, args.d_out, args.d_stat, args.dq);
    cut(k_, sequence, args.k, args.v, args.dk, args.dv);
    args.packing = {};
    return args;
  }

 private:
  void fetch(const std::int64_t* from, std::vector<std::int64_t>& to, cudaStream_t stream) {
    if (from == nullptr || count_ < 0) return;
    to.resize(static_cast<std::size_t>(count_) + 1);
    ATTN_CUDA_CALL(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(std::int64_t),
                                   cudaMemcpyDeviceToHost, stream));
  }
  /// Positions are the third axis of all of them.
  template <class... Views>
  static void cut(const std::vector<std::int64_t>& offsets, std::int64_t sequence,
                  Views&... views) {
    const std::int64_t first = offsets[static_cast<std::size_t>(sequence)];
    const std::int64_t end = offsets[static_cast<std::size_t>(sequence) + 1];
    const auto one = [&](auto& view) {
      if (view.data != nullptr) view.data += first * view.strides[2];
      view.shape[2] = end - first;
      view.strides[0] = 0;
    };
    (one(views), ...);
  }

  std::int64_t count_;
  std::vector<std::int64_t> q_;
  std::vector<std::int64_t> k_;
};

}  // namespace attn::gpu
