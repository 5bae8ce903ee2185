/// What `attn serve` is told, and what it grants its clients.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace attn::serve {

/// How much one client, and all of them together, may ask for.
struct Limits {
  std::size_t connections = 512;  ///< open at once; one more is told 503
  std::size_t body = 256 << 10;   ///< bytes of a request
  std::size_t header = 8 << 10;   ///< bytes of a request line with its headers
  std::size_t requests = 10000;   ///< over one connection, which is closed behind them
  std::size_t waiting = 64;       ///< model calls in the queue; one more is told 429
  std::size_t text = 16 << 10;    ///< bytes of a text
  std::int64_t beam = 16;
  /// A request must have arrived, a model call have begun, a response have been taken.
  std::chrono::milliseconds request{10000};
  std::chrono::milliseconds pause{5000};    ///< between two pieces of a request
  std::chrono::milliseconds idle{15000};    ///< between two requests
  std::chrono::milliseconds closing{5000};  ///< that answers may take once it was asked to end
};

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;                 ///< 0: any
  int threads = 2;                           ///< model calls at once
  std::vector<std::string> origins;          ///< that may ask from other pages; "*": all
  std::vector<std::string> names;            ///< that a Host header may have besides its own
  std::vector<std::filesystem::path> watch;  ///< folders of trainings that a page shows
  Limits limits;
  std::FILE* log = nullptr;  ///< an access line a request
};

}  // namespace attn::serve
