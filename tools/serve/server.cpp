#include "tools/serve/server.hpp"

#include <fmt/core.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/serve/connection.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/work_queue.hpp"

namespace attn::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Connections past the limit that are told so at once; more are closed without a word.
constexpr std::size_t kTurnedAwayAtOnce = 256;
/// After a failed accept (no file descriptor left): others may have gone by then.
constexpr std::chrono::milliseconds kBreath{50};

tcp::endpoint endpoint_of(asio::io_context& context, const Options& options) {
  error_code error;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      tcp::resolver::passive, error);
  if (error || found.empty())
    fail<FileError>("attn serve: ", files::in_quotes(options.host), " is no address here (",
                    error.message(), "); --host takes a name or an address of this machine");
  return found.begin()->endpoint();
}

}  // namespace

struct Server::State {
  explicit State(const Service& s)
      : service(s),
        guard(asio::make_work_guard(context)),
        acceptor(context),
        signals(context),
        breath(context),
        deadline(context),
        queue(s.options().threads, s.options().limits.waiting, s.options().limits.request) {
    lobby.service = &service;
    lobby.queue = &queue;
    lobby.left = [this] {
      if (lobby.closing && lobby.open.empty()) context.stop();
    };
  }
  ~State() { lobby.left = nullptr; }

  void listen() {
    const Options& options = service.options();
    const tcp::endpoint endpoint = endpoint_of(context, options);
    error_code error;
    std::ignore = acceptor.open(endpoint.protocol(), error);
    if (!error)
      std::ignore = acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) std::ignore = acceptor.bind(endpoint, error);
    if (!error) std::ignore = acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      fail<FileError>("attn serve: cannot listen at ", options.host, ":", options.port, " (",
                      error.message(), "); --port 0 takes any that is free");
  }

  void accept() {
    acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
      if (lobby.closing) return;
      if (error) {
        breath.expires_after(kBreath);
        breath.async_wait([this](const error_code&) {
          if (!lobby.closing) accept();
        });
        return;
      }
      welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    const std::size_t limit = service.options().limits.connections;
    if (lobby.open.size() >= limit + kTurnedAwayAtOnce) return;
    error_code ignored;
    std::ignore = socket.set_option(tcp::no_delay(true), ignored);
    const bool full = lobby.open.size() >= limit;
    const auto connection = std::make_shared<Connection>(std::move(socket), lobby);
    if (full) {
      connection->turn_away();
    } else {
      connection->start();
    }
  }

  void stop() {
    if (lobby.closing) return;
    lobby.closing = true;
    error_code ignored;
    std::ignore = acceptor.close(ignored);
    std::ignore = signals.cancel(ignored);
    queue.close();
    if (lobby.open.empty()) return context.stop();
    deadline.expires_after(service.options().limits.closing);
    deadline.async_wait([this](const error_code& error) {
      if (!error) context.stop();
    });
    // Closing one may let it go, so the set is not walked while it changes.
    const std::vector<Connection*> open(lobby.open.begin(), lobby.open.end());
    for (Connection* one : open) one->end_if_idle();
  }

  // Connections live in the context's handlers: it goes after what uses it, and before the
  // lobby that they leave.
  Lobby lobby;
  asio::io_context context{1};
  const Service& service;
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  tcp::acceptor acceptor;
  asio::signal_set signals;
  asio::steady_timer breath;
  asio::steady_timer deadline;
  WorkQueue queue;
};

Server::Server(const Service& service) : state_(std::make_unique<State>(service)) {
  state_->listen();
  state_->accept();
}

Server::~Server() = default;

std::uint16_t Server::port() const {
  error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

std::string Server::address() const {
  const std::string& host = state_->service.options().host;
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", six ? "[" : "", host, six ? "]" : "", port());
}

void Server::run() {
  while (!state_->context.stopped()) {
    try {
      state_->context.run();
    } catch (const std::exception& error) {
      // One connection's trouble (no memory) is not the others'.
      if (std::FILE* log = state_->service.options().log; log != nullptr)
        fmt::print(log, "attn serve: {}\n", error.what());
    }
  }
}

void Server::stop() {
  asio::post(state_->context, [this] { state_->stop(); });
}

void Server::stop_on_signals() {
  error_code ignored;
  std::ignore = state_->signals.add(SIGINT, ignored);
  std::ignore = state_->signals.add(SIGTERM, ignored);
  state_->signals.async_wait([this](const error_code& error, int) {
    if (error) return;
    error_code none;
    std::ignore = state_->signals.clear(none);  // the next signal does what it always does
    state_->stop();
  });
}

}  // namespace attn::serve
