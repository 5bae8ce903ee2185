/// Request and Response: HTTP as the handlers see it, without the library that carries it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::serve {

struct Request {
  std::string method;
  std::string path;  ///< as sent, without the query; never decoded
  std::string host;
  std::string origin;
  std::string content_type;
  std::string if_none_match;
  std::string wanted_method;  ///< Access-Control-Request-Method
  std::string body;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string text;        ///< the body, unless `fixed` has it
  std::string_view fixed;  ///< bytes that live as long as the program
  std::vector<std::pair<std::string, std::string>> headers;

  std::string_view body() const { return fixed.empty() ? std::string_view(text) : fixed; }
};

Response json_response(const nlohmann::json& value, int status = 200);
/// {"error": message}.
Response error_response(int status, std::string_view message);

/// What a handler throws to refuse a request.
struct Refusal {
  int status;
  std::string message;
};

/// Throws a Refusal whose message is the parts joined.
[[noreturn]] void refuse(int status, std::string message);

}  // namespace attn::serve
