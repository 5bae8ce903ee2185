#include "tools/serve/connection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/span.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <ratio>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "attn/files/printable.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/service.hpp"
#include "tools/serve/work_queue.hpp"

namespace attn::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

/// A client that is told to go may still be sending; so much is heard out, or it might never
/// read why.
constexpr std::size_t kHeardOut = 1 << 20;
constexpr std::chrono::milliseconds kHearing{1000};
/// What is read at a time.
constexpr std::size_t kPiece = 8 << 10;

Request request_of(const http::request<http::string_body>& message) {
  const auto text = [&](http::field field) { return std::string(message[field]); };
  Request request;
  request.method = std::string(message.method_string());
  const auto target = message.target();
  request.path = std::string(target.substr(0, target.find('?')));
  // Two Host headers are one too many to trust either.
  if (message.count(http::field::host) == 1) request.host = text(http::field::host);
  request.origin = text(http::field::origin);
  request.content_type = text(http::field::content_type);
  request.if_none_match = text(http::field::if_none_match);
  request.wanted_method = text(http::field::access_control_request_method);
  return request;
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, Lobby& lobby)
    : lobby_(lobby),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      buffer_(limits().header + 2 * kPiece) {
  lobby_.open.insert(this);
}

Connection::~Connection() {
  lobby_.open.erase(this);
  if (lobby_.left) lobby_.left();
}

void Connection::start() {
  state_ = State::reading;
  header_seen_ = false;
  request_ = {};
  parser_ = std::make_unique<http::request_parser<http::string_body>>();
  parser_->header_limit(static_cast<std::uint32_t>(limits().header));
  // That of the path follows when the header is read.
  parser_->body_limit(lobby_.service->largest_body());
  set_deadline(Clock::now() + limits().idle);
  // What a client sent behind its last request is here already.
  if (buffer_.size() > 0) return parse();
  read_more();
}

void Connection::read_more() {
  if (buffer_.max_size() - buffer_.size() < kPiece)
    return send_and_close(413, "a line of the request's body is too large");
  socket_.async_read_some(
      buffer_.prepare(kPiece),
      [self = shared_from_this()](const error_code& error, std::size_t bytes) {
        self->buffer_.commit(bytes);
        self->on_read(error);
      });
}

void Connection::on_read(const error_code& error) {
  if (std::exchange(late_, false)) {
    if (parser_->got_some() && !lobby_.closing)
      return send_and_close(408, "the request took too long");
    return close();
  }
  if (error) return close();
  parse();
}

void Connection::parse() {
  error_code error;
  while (buffer_.size() > 0 && !parser_->is_done() && !error &&
         parser_->is_header_done() == header_seen_)
    buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == http::error::body_limit) return refuse_body();
  if (error == http::error::header_limit)
    return send_and_close(431, "the headers of the request are too large");
  if (error && error != http::error::need_more)
    return send_and_close(400, ("this is no HTTP request: " + error.message()).c_str());
  if (parser_->is_header_done() && !header_seen_) return on_header();
  go_on_reading();
}

void Connection::refuse_body() {
  // The line with the path is the first that is read, and its length may end the header.
  send_and_close(413, lobby_.service->too_large(request_of(parser_->get()).path).c_str());
}

void Connection::on_header() {
  header_seen_ = true;
  request_ = request_of(parser_->get());
  const std::size_t most = lobby_.service->body_limit(request_.path);
  if (parser_->content_length().value_or(0) > most) return refuse_body();
  if (!parser_->is_done()) parser_->body_limit(most);
  parser_->eager(true);
  if (auto refusal = lobby_.service->refusal(request_)) {
    last_ = !parser_->is_done();  // what has not been read yet is in the way
    return send(*std::move(refusal));
  }
  const bool waits =
      !parser_->is_done() && parser_->get().version() == 11 &&
      http::token_list(parser_->get()[http::field::expect]).exists("100-continue");
  if (!waits) return parse();
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      if (error || self->late_) return self->close();
                      self->parse();
                    });
}

void Connection::go_on_reading() {
  if (parser_->is_done()) return on_request();
  const auto now = Clock::now();
  if (parser_->got_some() && began_ == Clock::time_point{}) began_ = now;
  if (parser_->got_some())
    set_deadline(std::min(now + limits().pause, began_ + limits().request));
  read_more();
}

void Connection::on_request() {
  if (began_ == Clock::time_point{}) began_ = Clock::now();
  state_ = State::working;
  timer_.cancel();
  request_.body = std::move(parser_->get().body());
  Plan plan = lobby_.service->plan(request_);
  if (!plan.later) return send(std::move(plan.now));
  // The last hold on the connection goes back to the server's thread with the response.
  auto job = [self = shared_from_this(),
              work = std::move(plan.later)](WorkQueue::Fate fate) mutable {
    Response response;
    try {
      response = fate == WorkQueue::Fate::run ? Service::run(work)
                 : fate == WorkQueue::Fate::late
                     ? error_response(503, "too many requests were in front of this one")
                     : error_response(503, "the server is being closed");
    } catch (const std::exception&) {
      response.status = 503;  // no memory even for an error's text
    }
    auto executor = self->socket_.get_executor();
    asio::post(executor, [self = std::move(self), response = std::move(response)]() mutable {
      self->send(std::move(response));
    });
  };
  if (lobby_.queue->push(std::move(job))) return;
  if (lobby_.closing) return send(error_response(503, "the server is being closed"));
  Response busy = error_response(429, "too many requests are waiting; try again soon");
  busy.headers.emplace_back("Retry-After", "1");
  send(std::move(busy));
}

void Connection::send_and_close(int status, const char* message) {
  last_ = true;
  if (parser_ && parser_->is_header_done()) request_ = request_of(parser_->get());
  send(error_response(status, message));
}

void Connection::send(Response response) {
  state_ = State::writing;
  lobby_.service->complete(request_, response);
  outgoing_ = std::make_unique<Outgoing>();
  Outgoing& out = *outgoing_;
  out.response = std::move(response);
  const bool parsed = parser_ && parser_->is_header_done();
  ++requests_;
  last_ = last_ || !parsed || !parser_->get().keep_alive() || lobby_.closing ||
          requests_ >= limits().requests;

  auto& message = out.message;
  message.version(parsed ? parser_->get().version() : 11);
  message.result(static_cast<unsigned>(out.response.status));
  if (!out.response.type.empty()) message.set(http::field::content_type, out.response.type);
  for (const auto& [name, value] : out.response.headers) message.set(name, value);
  const auto body = out.response.body();
  const bool bodiless = out.response.status == 204 || out.response.status == 304;
  if (!bodiless) message.content_length(body.size());
  message.keep_alive(!last_);
  const bool header_alone = bodiless || request_.method == "HEAD";
  if (!header_alone) message.body() = boost::beast::span<const char>(body.data(), body.size());
  set_deadline(Clock::now() + limits().request);

  auto sent = [self = shared_from_this()](const error_code& error, std::size_t) {
    if (error || self->late_) return self->close();
    self->on_sent();
  };
  if (header_alone) {
    out.serializer.split(true);
    http::async_write_header(socket_, out.serializer, std::move(sent));
  } else {
    http::async_write(socket_, out.serializer, std::move(sent));
  }
}

void Connection::on_sent() {
  log_access();
  outgoing_.reset();
  began_ = {};
  if (!last_ && !lobby_.closing) return start();
  error_code ignored;
  std::ignore = socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (lobby_.closing) return close();
  state_ = State::draining;
  set_deadline(Clock::now() + kHearing);
  drain();
}

void Connection::drain() {
  buffer_.clear();
  socket_.async_read_some(
      buffer_.prepare(kPiece),
      [self = shared_from_this()](const error_code& error, std::size_t bytes) {
        self->drained_ += bytes;
        if (error || self->late_ || self->drained_ > kHeardOut) return self->close();
        self->drain();
      });
}

void Connection::turn_away() {
  last_ = true;
  send(error_response(503, "too many connections are open; try again soon"));
}

void Connection::end_if_idle() {
  if (state_ == State::draining || (state_ == State::reading && !parser_->got_some())) close();
}

void Connection::close() {
  error_code ignored;
  timer_.cancel();
  std::ignore = socket_.close(ignored);
}

void Connection::set_deadline(Clock::time_point until) {
  timer_.expires_at(until);
  timer_.async_wait([weak = weak_from_this()](const error_code& error) {
    const auto self = weak.lock();
    // A deadline that was moved after this call had been queued has not come.
    if (!error && self && self->timer_.expiry() <= Clock::now()) self->on_deadline();
  });
}

void Connection::on_deadline() {
  if (state_ == State::working) return;
  late_ = true;
  error_code ignored;
  // Reading ends with an error and may still be answered; nothing else can.
  if (state_ == State::reading) {
    std::ignore = socket_.cancel(ignored);
  } else {
    std::ignore = socket_.close(ignored);
  }
}

void Connection::log_access() const {
  std::FILE* log = lobby_.service->options().log;
  if (log == nullptr) return;
  const auto took = std::chrono::duration<double, std::milli>(Clock::now() - began_);
  fmt::print(log, "{} {} {} {} bytes {:.1f} ms\n",
             request_.method.empty() ? "-" : files::printable(request_.method, 16),
             request_.path.empty() ? "-" : files::printable(request_.path),
             outgoing_->response.status, outgoing_->response.body().size(),
             began_ == Clock::time_point{} ? 0.0 : took.count());
  std::fflush(log);
}

}  // namespace attn::serve
