/// DecodeWork: all pieces of a call that take the decode path, and who merges them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/decode/piece.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {

struct KernelTable;

/// Whether a sequence takes the decode path, as the route says.
bool takes_decode(const Plan& plan, int b);

/// The pieces of all sequences that take the decode path. Pieces run in any order; the last of
/// a kv head to end merges them all in the order of their keys.
class DecodeWork {
 public:
  explicit DecodeWork(const Plan& plan);

  int tasks() const { return static_cast<int>(tasks_.size()); }
  /// `memory` is kernels.decode_bytes() of the piece's sequence.
  void run(const KernelTable& kernels, int task, std::byte* memory) const;
  int batch_of(int task) const { return tasks_[static_cast<std::size_t>(task)].piece.batch; }

 private:
  struct Task {
    DecodePiece piece;
    int unit = 0;            ///< whose counter it lowers
    int first = 0;           ///< task of the unit's first piece
    int count = 0;           ///< pieces of the unit
    std::int64_t state = 0;  ///< where its state lies; unused by a lone piece
    std::int64_t state_size = 0;
  };

  const Plan& plan_;
  std::vector<Task> tasks_;
  std::unique_ptr<float[]> states_;
  std::unique_ptr<std::atomic<int>[]> left_;  ///< pieces still to end, one number a unit
};

}  // namespace attn::cpu
