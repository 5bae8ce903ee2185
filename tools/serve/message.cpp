#include "tools/serve/message.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "attn/files/printable.hpp"

namespace attn::serve {

Response json_response(const nlohmann::json& value, int status) {
  Response response;
  response.status = status;
  response.text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  response.text += '\n';
  return response;
}

Response error_response(int status, std::string_view message) {
  return json_response({{"error", files::printable(message, 1000)}}, status);
}

void refuse(int status, std::string message) {
  throw Refusal{status, std::move(message)};
}

}  // namespace attn::serve
