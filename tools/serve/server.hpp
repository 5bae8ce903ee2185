/// Server: listens, and carries requests to a Service.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>

#include "tools/serve/service.hpp"

namespace attn::serve {

class Server {
 public:
  /// Listens at the address of the service's options; a FileError tells why it cannot.
  explicit Server(const Service& service);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// "http://127.0.0.1:8080/".
  std::string address() const;

  /// Serves until stop() is called. What runs then is answered, for a few seconds at most.
  void run();
  /// From any thread; run() returns soon.
  void stop();
  /// SIGINT and SIGTERM call stop(); a second one ends the program.
  void stop_on_signals();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::serve
