#include "tools/serve/security.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/message.hpp"
#include "tools/serve/options.hpp"

namespace attn::serve {
namespace {

constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

std::string lowered(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

/// "localhost" of "localhost:8080", "::1" of "[::1]:8080"; empty for what is neither.
std::string name_of(std::string_view host) {
  std::string_view name = host;
  std::string_view rest;
  if (!host.empty() && host.front() == '[') {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return "";
    name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    rest = host.substr(colon);
  }
  const bool port = rest.empty() || (rest.front() == ':' &&
                                     std::all_of(rest.begin() + 1, rest.end(),
                                                 [](char c) { return c >= '0' && c <= '9'; }));
  return port ? lowered(name) : "";
}

bool is_loopback(const std::string& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return error ? host == "localhost" : address.is_loopback();
}

bool listed(const std::vector<std::string>& all, std::string_view one) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& other) { return lowered(other) == lowered(one); });
}

bool is_allowed(std::string_view origin, const Options& options) {
  return listed(options.origins, "*") || listed(options.origins, origin);
}

}  // namespace

bool is_own_name(std::string_view host_header, const Options& options) {
  const std::string name = name_of(host_header);
  if (name.empty()) return false;
  const std::string bound = lowered(options.host);
  if (name == bound || name == "localhost" || listed(options.names, name)) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && (address.is_loopback() || !is_loopback(bound));
}

bool may_ask(std::string_view origin, std::string_view host_header, const Options& options) {
  const std::string host = lowered(host_header);
  const std::string from = lowered(origin);
  return from == "http://" + host || from == "https://" + host || is_allowed(origin, options);
}

void add_security_headers(const Request& request, const Options& options, Response& response) {
  auto& headers = response.headers;
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  headers.emplace_back("Referrer-Policy", "no-referrer");
  headers.emplace_back("Content-Security-Policy", kPolicy);
  headers.emplace_back("X-Frame-Options", "DENY");
  if (options.origins.empty()) {
    headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
    return;
  }
  headers.emplace_back("Vary", "Origin");
  if (request.origin.empty() || !is_allowed(request.origin, options)) return;
  // With "*" any origin is as good as another, and none is echoed.
  headers.emplace_back("Access-Control-Allow-Origin",
                       listed(options.origins, "*") ? "*" : request.origin);
  if (request.method == "OPTIONS" && !request.wanted_method.empty()) {
    headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    headers.emplace_back("Access-Control-Allow-Headers", "content-type");
    headers.emplace_back("Access-Control-Max-Age", "600");
  }
}

}  // namespace attn::serve
