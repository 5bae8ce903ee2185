/// A client that may be as rude as a test wants: it sends bytes and reads what comes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace attn::tools {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{8, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Everything until the server closes.
  std::string rest() {
    while (more()) {
    }
    return std::move(read_);
  }

  /// One response with its body, by its Content-Length; what is behind it stays for the next.
  std::string response() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return std::move(read_);
    const auto length = read_.find("Content-Length: ");
    std::size_t size = end + 4;
    if (length < end) size += static_cast<std::size_t>(std::atoll(read_.c_str() + length + 16));
    while (read_.size() < size)
      if (!more()) break;
    std::string one = read_.substr(0, size);
    read_.erase(0, size);
    return one;
  }

 private:
  bool more() {
    char piece[16384];
    const auto got = ::recv(socket_, piece, sizeof piece, 0);
    if (got <= 0) return false;
    read_.append(piece, static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string read_;
};

/// The status of a response; 0 for none.
inline int status_of(const std::string& response) {
  return response.rfind("HTTP/1.", 0) == 0 ? std::atoi(response.c_str() + 9) : 0;
}
inline std::string body_of(const std::string& response) {
  const auto end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

}  // namespace attn::tools
