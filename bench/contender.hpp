/// Contender: one implementation at work on one problem. Peer: how to enter one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data.hpp"  // IWYU pragma: export

namespace attn::bench {

struct Setting {
  int threads = 1;
  std::string set;  ///< instruction set of ours; peers choose their own
};

class Contender {
 public:
  virtual ~Contender() = default;

  /// Seconds a call, averaged over `calls` in a row.
  virtual double seconds(int calls) = 0;

  /// What the last call computed.
  virtual Witness witness() = 0;
};

/// The first call in a fresh process.
struct Once {
  double seconds = 0;
  std::int64_t extra_bytes = -1;  ///< beyond inputs and outputs; -1: unknown
  double error = 0;               ///< against the oracle, where asked for
};
enum class Check { no, yes };

struct Peer {
  std::string name;
  std::string about;
  std::function<bool(const Problem&)> serves;

  /// The data outlive the contender.
  std::function<std::unique_ptr<Contender>(const Problem&, const Data&, const Setting&)> enter;
  std::function<Once(const Problem&, const Setting&, Check)> once;
};

/// A contender that is a function of this process; `call` works on buffers of its own.
class LocalContender : public Contender {
 public:
  LocalContender(int threads, std::function<void()> call, std::function<Witness()> witness);
  double seconds(int calls) override;
  Witness witness() override { return witness_(); }

 private:
  int threads_;
  std::function<void()> call_;
  std::function<Witness()> witness_;
};

/// The last head's part of [batch, heads, positions, channels], as a witness holds it.
std::vector<float> last_head(const Buffer& buffer, std::int64_t heads);

}  // namespace attn::bench
