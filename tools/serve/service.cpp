#include "tools/serve/service.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/message.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/security.hpp"

namespace attn::serve {
namespace {

/// "application/json" with or without parameters.
bool is_json(std::string_view type) {
  constexpr std::string_view kJson = "application/json";
  if (type.size() < kJson.size()) return false;
  for (std::size_t i = 0; i < kJson.size(); ++i) {
    const char c = type[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kJson[i]) return false;
  }
  return type.size() == kJson.size() || type[kJson.size()] == ';' || type[kJson.size()] == ' ';
}

/// TaskCard::input_bytes of the task that a path is of; 0: there is none.
std::size_t input_bytes(std::string_view path) {
  constexpr std::string_view kBegin = "/api/";
  const tasks::Task* task =
      path.starts_with(kBegin) ? Models::find_task(path.substr(kBegin.size())) : nullptr;
  return task == nullptr ? 0 : task->card().input_bytes;
}

}  // namespace

Service::Service(Options options, Models models)
    : options_(std::move(options)), models_(std::move(models)) {}

const Route* Service::route(std::string_view method, std::string_view path) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& one : routes())
    if (one.method == wanted && one.path == path) return &one;
  return wanted == "POST" ? task_route(path) : nullptr;
}

std::string Service::methods_of(std::string_view path) const {
  std::string methods;
  if (route("GET", path) != nullptr || find_asset(path) != nullptr) methods = "GET, HEAD, ";
  if (route("POST", path) != nullptr) methods += "POST, ";
  return methods.empty() ? methods : methods + "OPTIONS";
}

std::optional<Response> Service::refusal(const Request& request) const {
  if (request.host.empty()) return error_response(400, "the request must have one Host header");
  if (!is_own_name(request.host, options_))
    return error_response(403, "this server is not " + files::in_quotes(request.host) +
                                   "; --allow-host lets it go by another name");
  const bool safe =
      request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
  if (!safe && !request.origin.empty() && !may_ask(request.origin, request.host, options_))
    return error_response(403, "pages of " + files::in_quotes(request.origin) +
                                   " may not ask; --allow-origin lets them");
  const std::string methods = methods_of(request.path);
  if (methods.empty())
    return error_response(404, "there is nothing at " + files::in_quotes(request.path));
  if (request.method == "OPTIONS" || route(request.method, request.path) != nullptr ||
      (safe && find_asset(request.path) != nullptr)) {
    if (request.method == "POST" && !is_json(request.content_type))
      return error_response(400, "the request must have the content type application/json");
    return std::nullopt;
  }
  Response response =
      error_response(405, files::in_quotes(request.path) + " takes " + methods + " alone");
  response.headers.emplace_back("Allow", methods);
  return response;
}

std::size_t Service::body_limit(std::string_view path) const {
  // What stands beside the input: names of fields and of a model.
  constexpr std::size_t kBeside = 16 << 10;
  const std::size_t input = input_bytes(path);
  return std::max(options_.limits.body, input == 0 ? 0 : (input + 2) / 3 * 4 + kBeside);
}

std::size_t Service::largest_body() const {
  std::size_t most = options_.limits.body;
  for (const tasks::Task* task : tasks::all_tasks())
    most = std::max(most, body_limit("/api/" + task->name()));
  return most;
}

std::string Service::too_large(std::string_view path) const {
  const std::size_t input = input_bytes(path);
  return "the body of the request is too large; at most " + std::to_string(body_limit(path)) +
         " bytes are accepted" +
         (input == 0 ? ""
                     : ", which hold " + std::to_string(input) + " bytes of input in base64");
}

Plan Service::plan(const Request& request) const {
  if (request.method == "OPTIONS") {
    Response response;
    response.status = 204;
    response.type.clear();
    response.headers.emplace_back("Allow", methods_of(request.path));
    return response;
  }
  const Route* found = route(request.method, request.path);
  if (found == nullptr) {
    const ServedAsset* asset = find_asset(request.path);
    return asset != nullptr ? asset_response(*asset, request)
                            : error_response(404, "there is nothing here");
  }
  std::optional<Plan> planned;
  Response failed = run([&] {
    planned = found->answer(*this, request);
    return Response{};
  });
  if (!planned) return failed;
  return *std::move(planned);
}

Response Service::run(const std::function<Response()>& work) {
  try {
    return work();
  } catch (const Refusal& refusal) {
    return error_response(refusal.status, refusal.message);
  } catch (const InvalidArgument& error) {
    return error_response(400, error.what());
  } catch (const std::bad_alloc&) {
    return error_response(503, "there is not enough memory for this request now");
  } catch (const std::exception& error) {
    return error_response(500, error.what());
  }
}

void Service::complete(const Request& request, Response& response) const {
  add_security_headers(request, options_, response);
  for (const auto& [name, value] : response.headers)
    if (name == "Cache-Control") return;
  response.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace attn::serve
