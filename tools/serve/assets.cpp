#include "tools/serve/assets.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attn/text/sha256.hpp"
#include "tools/page/assets.hpp"
#include "tools/serve/message.hpp"

namespace attn::serve {
namespace {

constexpr std::string_view kNoPage =
    "attn serve: the page is not in this program. It is built where npm and node 18 are "
    "found;\n"
    "on Debian: sudo apt-get install -y npm, then ./attn serve again, which builds it in. The\n"
    "JSON interface works: see /openapi.json and /api/info.\n";

ServedAsset served(std::string path, std::string_view type, std::string_view bytes) {
  // Vite puts a hash of the content into the names under assets/: they never change.
  const bool hashed = path.rfind("/assets/", 0) == 0;
  return {std::move(path), type, bytes,
          "\"" + text::sha256_hex(std::as_bytes(std::span(bytes))).substr(0, 32) + "\"",
          hashed ? "public, max-age=31536000, immutable" : "no-cache"};
}

std::map<std::string, ServedAsset, std::less<>> table_of_assets() {
  std::map<std::string, ServedAsset, std::less<>> table;
  const auto add = [&](ServedAsset asset) {
    std::string path = asset.path;
    table.emplace(std::move(path), std::move(asset));
  };
  for (const tools::Asset& asset : tools::page_assets()) {
    // A template for `attn explain`, nothing to look at.
    if (asset.name == "offline.html") continue;
    if (asset.name == "index.html") add(served("/", asset.type, asset.bytes));
    add(served("/" + std::string(asset.name), asset.type, asset.bytes));
  }
  if (!table.contains("/")) add(served("/", "text/plain; charset=utf-8", kNoPage));
  return table;
}

const std::map<std::string, ServedAsset, std::less<>>& assets() {
  static const auto kTable = table_of_assets();
  return kTable;
}

}  // namespace

const ServedAsset* find_asset(std::string_view path) {
  const auto found = assets().find(path);
  return found == assets().end() ? nullptr : &found->second;
}

bool has_page() {
  return !tools::page_assets().empty();
}

Response asset_response(const ServedAsset& asset, const Request& request) {
  Response response;
  response.headers.emplace_back("ETag", asset.tag);
  response.headers.emplace_back("Cache-Control", asset.cache);
  // The header may list several; one of ours among them is enough.
  if (request.if_none_match == "*" ||
      request.if_none_match.find(asset.tag) != std::string::npos) {
    response.status = 304;
    response.type.clear();
    return response;
  }
  response.type = asset.type;
  response.fixed = asset.bytes;
  return response;
}

}  // namespace attn::serve
