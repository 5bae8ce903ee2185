#include "tools/conformance/case.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/safetensors.hpp"
#include "tools/conformance/array.hpp"

namespace attn::conformance {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kNonFinite{"-Infinity", "Infinity", "NaN"};

std::vector<std::string> names_of(const json& list, const std::string& where) {
  if (!list.is_array()) fail<FileError>(where, ": expected a list of names");
  std::vector<std::string> names;
  for (const json& name : list) names.push_back(files::to_text(name, where));
  return names;
}

Node node_of(const json& value, const std::string& where) {
  Node node;
  node.operation = files::to_text(files::member(value, "op", where), where + ": op");
  node.inputs = names_of(files::member(value, "inputs", where), where + ": inputs");
  node.outputs = names_of(files::member(value, "outputs", where), where + ": outputs");
  node.attributes = files::member(value, "attributes", where);
  if (!node.attributes.is_object()) fail<FileError>(where, ": attributes: expected an object");
  return node;
}

std::map<std::string, Array> arrays_of(const files::Safetensors& file, const char* prefix,
                                       const std::vector<std::string>& names) {
  std::map<std::string, Array> arrays;
  for (const std::string& name : names) {
    const files::ArrayView& view = file.at(prefix + name);
    Array array = make_array(view.dtype, view.shape);
    std::copy(view.bytes.begin(), view.bytes.end(), array.bytes.begin());
    arrays.insert_or_assign(name, std::move(array));
  }
  return arrays;
}

}  // namespace

std::string quote_non_finite(std::string_view text) {
  std::string result;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\' && i + 1 < text.size()) {
      result += text[i++];
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (!inside) {
      std::string_view word;
      for (const std::string_view candidate : kNonFinite)
        if (word.empty() && text.substr(i, candidate.size()) == candidate) word = candidate;
      if (!word.empty()) {
        result.append("\"").append(word).append("\"");
        i += word.size() - 1;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

double number_of(const json& value, const std::string& where) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == kNonFinite[0]) return -kInfinite;
    if (text == kNonFinite[1]) return kInfinite;
    if (text == kNonFinite[2]) return std::numeric_limits<double>::quiet_NaN();
  }
  return files::to_double(value, where);
}

Case read_case(const std::filesystem::path& path) {
  return read_case(files::read_safetensors(path));
}

Case read_case(const files::Safetensors& file) {
  const auto found = file.metadata().find("case");
  if (found == file.metadata().end())
    fail<FileError>("the file has no \"case\" in its metadata");
  const json text = files::parse_json(quote_non_finite(found->second), "case");

  Case result;
  result.name = files::to_text(files::member(text, "name", "case"), "case: name");
  const json& opset = files::member(text, "opset", "case");
  if (!opset.is_object()) fail<FileError>("case: opset: expected an object");
  for (const auto& [domain, version] : opset.items())
    result.opset[domain] = files::to_int(version, "case: opset");
  const json& nodes = files::member(text, "nodes", "case");
  if (!nodes.is_array() || nodes.empty()) fail<FileError>("case: nodes: expected a list");
  for (const json& node : nodes)
    result.nodes.push_back(node_of(node, "case: node " + std::to_string(result.nodes.size())));
  result.inputs = arrays_of(file, "input.",
                            names_of(files::member(text, "inputs", "case"), "case: inputs"));
  result.outputs = arrays_of(file, "output.",
                             names_of(files::member(text, "outputs", "case"), "case: outputs"));
  if (result.outputs.empty()) fail<FileError>("case: no outputs, so there is nothing to check");
  return result;
}

}  // namespace attn::conformance
