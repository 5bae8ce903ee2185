/// Connection: one client, one request at a time, each with its deadlines.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>

#include "tools/serve/message.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/work_queue.hpp"

namespace attn::serve {

class Connection;

/// What connections share. All of it, and every connection, lives on the server's one thread.
struct Lobby {
  const Service* service = nullptr;
  WorkQueue* queue = nullptr;
  std::set<Connection*> open;
  bool closing = false;
  std::function<void()> left;  ///< called when a connection has gone
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, Lobby& lobby);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Reads requests until the client goes, is too slow, or is told to.
  void start();
  /// Tells a client that there is no room.
  void turn_away();
  /// The server ends: a connection that waits for a request is closed, others finish theirs.
  void end_if_idle();

 private:
  enum class State { reading, working, writing, draining };
  using Clock = std::chrono::steady_clock;
  using Body = boost::beast::http::span_body<const char>;

  /// What is being sent; it must stay in place while it is.
  struct Outgoing {
    Response response;
    boost::beast::http::response<Body> message;
    boost::beast::http::response_serializer<Body> serializer{message};
  };

  void read_more();
  void on_read(const boost::system::error_code& error);
  void parse();
  void on_header();
  void refuse_body();
  void go_on_reading();
  void on_request();
  void send(Response response);
  void send_and_close(int status, const char* message);
  void on_sent();
  void drain();
  void close();

  /// At `until` the client was too slow for the state it is in then.
  void set_deadline(Clock::time_point until);
  void on_deadline();
  void log_access() const;
  const Limits& limits() const { return lobby_.service->options().limits; }

  Lobby& lobby_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::unique_ptr<Outgoing> outgoing_;
  Request request_;
  State state_ = State::reading;
  Clock::time_point began_;  ///< when the first bytes of the request came
  std::size_t requests_ = 0;
  std::size_t drained_ = 0;
  bool header_seen_ = false;
  bool late_ = false;
  bool last_ = false;  ///< the connection is closed behind the response
};

}  // namespace attn::serve
