/// The contenders: ours first, then everyone who can be found.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "contender.hpp"

namespace attn::bench {

/// The fused kernels of this library.
Peer attn_peer();

/// The same mathematics with the score matrix in memory: good products, one softmax pass.
Peer unfused_peer();

/// A program that speaks the protocol of peers/child.hpp. `environment` holds NAME=value.
Peer child_peer(std::string name, std::string about, const std::vector<std::string>& command,
                const std::vector<std::string>& environment);

/// Ours, unfused, libtorch and libtorch-tuned where the program attn-bench-libtorch lies beside
/// this one, and `extra`: "name=command with arguments".
std::vector<Peer> peers(const std::vector<std::string>& extra);

/// A local peer's first call in this process, which must be fresh.
Once once_here(const Peer& peer, const Problem& problem, const Setting& setting, Check check);

/// The same by starting this program again with --once.
Once once_in_child(const std::string& peer, const Problem& problem, const Setting& setting,
                   Check check);

}  // namespace attn::bench
