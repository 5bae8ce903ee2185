/// `attn train caption` and `attn eval caption`: what differs from tasks that learn from pairs.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "attn/tensor/storage.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/training_flags.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
}

namespace attn::tools {

/// Flags of `train` that caption alone has; negative or empty: not given.
struct CaptionFlags {
  std::string attention;
  std::int64_t canvases = -1;
  double doubly = -1.0;
  double entropy = -1.0;
  double reward = -1.0;
  double soft_share = -1.0;

  bool given() const;
};
void add_caption_flags(CLI::App& command, CaptionFlags& flags);

struct TrainCaption {
  std::string out;
  bool resume = false;
  std::int64_t save_every = 0;
  std::uint64_t shard_bytes = 0;
  TrainingFlags flags;
  CaptionFlags caption;
  std::string map;  ///< where the curve is drawn, or empty
};
int train_caption(const TrainCaption& asked, const Streams& streams);

struct EvalCaption {
  std::string model;
  std::string part = "test";
  std::string answers;
  std::int64_t limit = 0;
  bool json = false;
  Device device = Device::cpu;
};
int eval_caption(const EvalCaption& asked, const Streams& streams);

}  // namespace attn::tools
