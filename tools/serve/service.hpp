/// Service: what the server answers, whatever carries the requests.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/options.hpp"

namespace attn::serve {

/// An answer, or the work that makes one. The work may run on any thread, beside others.
struct Plan {
  Response now;
  std::function<Response()> later;

  Plan(Response response) : now(std::move(response)) {}  // NOLINT(google-explicit-constructor)
  explicit Plan(std::function<Response()> work) : later(std::move(work)) {}
};

class Service;
struct Route {
  std::string_view method;
  std::string_view path;
  Plan (*answer)(const Service&, const Request&);
};
/// Those of the interface; the page's files are not among them.
const std::vector<Route>& routes();
/// POST /api/TASK, which every task has; null for a path that is of no task.
const Route* task_route(std::string_view path);

/// Constant once made: connections and workers share it.
class Service {
 public:
  Service(Options options, Models models);

  /// Refuses what can be refused before the body is read: a name that is not the server's, a
  /// foreign page, an unknown path, a wrong method or content type.
  std::optional<Response> refusal(const Request& request) const;

  /// Of a request that was not refused. Never throws.
  Plan plan(const Request& request) const;

  /// Never throws: an error is a response.
  static Response run(const std::function<Response()>& work);

  /// Puts in the headers that every response has.
  void complete(const Request& request, Response& response) const;

  /// Bytes that the body of a request to that path may have: more where a task reads sounds.
  std::size_t body_limit(std::string_view path) const;
  /// That of any path.
  std::size_t largest_body() const;
  std::string too_large(std::string_view path) const;

  const Options& options() const { return options_; }
  const Models& models() const { return models_; }

 private:
  const Route* route(std::string_view method, std::string_view path) const;
  /// "GET, HEAD, OPTIONS", or empty for a path that nobody knows.
  std::string methods_of(std::string_view path) const;

  Options options_;
  Models models_;
};

}  // namespace attn::serve
