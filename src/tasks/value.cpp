#include "attn/tasks/value.hpp"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/base64.hpp"

namespace attn::tasks {
namespace {

nlohmann::json kind_json(const Picture& picture) {
  return {{"width", picture.width},
          {"height", picture.height},
          {"channels", picture.channels},
          {"pixels", maps::to_base64(picture.pixels)}};
}

nlohmann::json kind_json(const std::string& text) {
  return text;
}

nlohmann::json kind_json(const Frames& frames) {
  auto list = nlohmann::json::array();
  for (const Picture& picture : frames) list.push_back(kind_json(picture));
  return list;
}

nlohmann::json kind_json(const Sound& sound) {
  std::vector<std::uint8_t> bytes(sound.samples.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), sound.samples.data(), bytes.size());
  return {{"rate", sound.rate}, {"samples", maps::to_base64(bytes)}};
}

nlohmann::json kind_json(const Labels& labels) {
  auto list = nlohmann::json::array();
  for (const Label& label : labels)
    list.push_back({{"name", label.name}, {"score", label.score}});
  return {{"labels", std::move(list)}};
}

nlohmann::json kind_json(const Table& table) {
  auto rows = nlohmann::json::array();
  for (const auto& row : table.rows) {
    auto cells = nlohmann::json::array();
    for (const Table::Cell& cell : row)
      std::visit([&](const auto& one) { cells.push_back(one); }, cell);
    rows.push_back(std::move(cells));
  }
  return {{"columns", table.columns}, {"rows", std::move(rows)}};
}

const nlohmann::json& list_of(const nlohmann::json& object, const char* name,
                              const std::string& where) {
  const nlohmann::json& list = files::member(object, name, where);
  if (!list.is_array())
    fail<FileError>(where, ": ", name, " is ", list.type_name(), "; a list is accepted");
  return list;
}

std::vector<std::uint8_t> bytes_of(const nlohmann::json& object, const char* name,
                                   const std::string& where) {
  auto bytes = maps::from_base64(files::to_text(files::member(object, name, where), where));
  if (!bytes) fail<FileError>(where, ": ", name, " is not base64");
  return *std::move(bytes);
}

/// Larger pictures are no pictures; it also keeps the product below from running over.
constexpr std::int64_t kMostPixels = 1 << 15;

Picture picture_of(const nlohmann::json& json, const std::string& where) {
  const auto size = [&](const char* name) {
    const std::int64_t value = files::to_int(files::member(json, name, where), where);
    if (value < 1 || value > kMostPixels)
      fail<FileError>(where, ": ", name, " is ", value, "; accepted: 1 to ", kMostPixels);
    return value;
  };
  Picture picture{size("width"), size("height"),
                  json.contains("channels") ? size("channels") : 1,
                  bytes_of(json, "pixels", where)};
  const std::int64_t wanted = picture.width * picture.height * picture.channels;
  if (static_cast<std::int64_t>(picture.pixels.size()) != wanted)
    fail<FileError>(where, ": pixels are ", picture.pixels.size(), " bytes; ", picture.width,
                    " x ", picture.height, " x ", picture.channels, " are ", wanted);
  return picture;
}

Sound sound_of(const nlohmann::json& json, const std::string& where) {
  Sound sound{files::to_int(files::member(json, "rate", where), where), {}};
  const std::vector<std::uint8_t> bytes = bytes_of(json, "samples", where);
  if (sound.rate < 1 || bytes.size() % sizeof(float) != 0)
    fail<FileError>(where, " is no sound: rate ", sound.rate, ", ", bytes.size(),
                    " bytes of samples");
  sound.samples.resize(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(sound.samples.data(), bytes.data(), bytes.size());
  return sound;
}

Labels labels_of(const nlohmann::json& json, const std::string& where) {
  Labels labels;
  for (const nlohmann::json& label : list_of(json, "labels", where))
    labels.push_back({files::to_text(files::member(label, "name", where), where),
                      files::to_double(files::member(label, "score", where), where)});
  return labels;
}

Table table_of(const nlohmann::json& json, const std::string& where) {
  Table table;
  for (const nlohmann::json& column : list_of(json, "columns", where))
    table.columns.push_back(files::to_text(column, where));
  for (const nlohmann::json& row : list_of(json, "rows", where)) {
    if (!row.is_array() || row.size() != table.columns.size())
      fail<FileError>(where, ": a row has as many cells as there are columns, ",
                      table.columns.size());
    auto& cells = table.rows.emplace_back();
    for (const nlohmann::json& cell : row) {
      if (cell.is_string()) {
        cells.emplace_back(cell.get<std::string>());
      } else {
        cells.emplace_back(files::to_double(cell, where));
      }
    }
  }
  return table;
}

}  // namespace

nlohmann::json json_of(const Value& value) {
  return std::visit([](const auto& one) { return kind_json(one); }, value);
}

Value value_of(const nlohmann::json& json, const std::string& where) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Frames frames;
    for (const nlohmann::json& picture : json) frames.push_back(picture_of(picture, where));
    return frames;
  }
  if (json.is_object() && json.contains("width")) return picture_of(json, where);
  if (json.is_object() && json.contains("rate")) return sound_of(json, where);
  if (json.is_object() && json.contains("labels")) return labels_of(json, where);
  if (json.is_object() && json.contains("columns")) return table_of(json, where);
  fail<FileError>(where,
                  " is no text, picture, list of pictures, sound, list of labels or table");
}

}  // namespace attn::tasks
