// SPDX-License-Identifier: Apache-2.0

#include "tasks/embed/graph_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The encoder's has 28 MB; a manifest must not ask for all memory there is.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

const json& list(const json& object, std::string_view key, const std::string& where) {
  const json& value = files::member(object, key, where);
  if (!value.is_array()) fail<FileError>(where, ": ", key, " is not an array");
  return value;
}

files::ArrayView array_of(const json& weight, const std::string& where) {
  files::ArrayView array;
  array.name = files::to_text(files::member(weight, "name", where), where);
  const std::string which = where + ": " + files::in_quotes(array.name, 200);
  const std::string& dtype = files::to_text(files::member(weight, "dtype", which), which);
  if (dtype != "float32" && dtype != "int32")
    fail<FileError>(which, " holds ", files::in_quotes(dtype), "; float32 and int32 are read");
  if (weight.contains("quantization")) fail<FileError>(which, " is quantised; float32 is read");
  array.dtype = dtype == "float32" ? DType::f32 : DType::i32;
  for (const json& extent : list(weight, "shape", which))
    array.shape.push_back(files::to_int(extent, which));
  return array;
}

/// The files of a group, open; a name that leads out of the folder is refused.
std::vector<std::unique_ptr<files::InputFile>> open_shards(const fs::path& folder,
                                                           const json& paths,
                                                           const std::string& where) {
  std::vector<std::unique_ptr<files::InputFile>> shards;
  for (const json& path : paths) {
    const std::string& name = files::to_text(path, where);
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
      fail<FileError>(where, ": ", files::in_quotes(name), " is not the name of a shard");
    shards.push_back(std::make_unique<files::InputFile>(folder / name));
  }
  return shards;
}

/// Shards but the last are cut at one size, so the one that differs is the one to fetch again.
[[noreturn]] void wrong_size(const std::vector<std::unique_ptr<files::InputFile>>& shards,
                             const json& paths, const fs::path& folder, std::uint64_t seen,
                             std::uint64_t wanted) {
  const auto last = shards.end() - 1;
  const auto [least, most] = std::minmax_element(
      shards.begin(), last, [](const auto& a, const auto& b) { return a->size() < b->size(); });
  const bool even = least == last || (*least)->size() == (*most)->size();
  const auto odd = static_cast<std::size_t>((even            ? last
                                             : seen < wanted ? least
                                                             : most) -
                                            shards.begin());
  fail<FileError>(files::path_text(folder / paths[odd].get_ref<const std::string&>()), ": ",
                  shards[odd]->size(), " bytes are not what model.json says: all shards have ",
                  seen, " bytes, its arrays ", wanted);
}

}  // namespace

GraphWeights::GraphWeights(const fs::path& folder)
    : where_(files::path_text(folder / "model.json")) {
  read_manifest(folder);
  check_finite();
}

void GraphWeights::read_manifest(const fs::path& folder) {
  const json model = files::read_json(folder / "model.json");
  const json& groups = list(model, "weightsManifest", where_);
  if (groups.size() != 1)
    fail<FileError>(where_, ": ", groups.size(), " groups of weights; one is read");
  const json& paths = list(groups[0], "paths", where_);
  if (paths.empty()) fail<FileError>(where_, ": there are no shards");

  std::vector<files::ArrayView> arrays;
  std::vector<std::uint64_t> sizes;
  std::uint64_t wanted = 0;
  for (const json& weight : list(groups[0], "weights", where_)) {
    arrays.push_back(array_of(weight, where_));
    const auto bytes = files::byte_count(arrays.back().shape, arrays.back().dtype);
    if (!bytes || *bytes > kMaxBytes - wanted)
      fail<FileError>(where_, ": ", files::in_quotes(arrays.back().name, 200), " of shape ",
                      files::shape_text(arrays.back().shape), " is too large; all arrays may ",
                      "have ", kMaxBytes, " bytes");
    sizes.push_back(*bytes);
    wanted += *bytes;
  }
  const auto shards = open_shards(folder, paths, where_);
  std::uint64_t seen = 0;
  for (const auto& shard : shards) seen += shard->size();
  if (seen != wanted) wrong_size(shards, paths, folder, seen, wanted);

  data_ = files::allocate(wanted, where_);
  std::size_t at = 0;
  for (const auto& shard : shards) {
    shard->read_at(0, data_.span().subspan(at, shard->size()));
    at += shard->size();
  }
  at = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    files::ArrayView& array = arrays[i];
    array.bytes = std::as_const(data_).span().subspan(at, sizes[i]);
    at += sizes[i];
    if (!arrays_.emplace(array.name, array).second)
      fail<FileError>(where_, ": ", files::in_quotes(array.name, 200), " a second time");
  }
}

void GraphWeights::check_finite() const {
  for (const auto& [name, array] : arrays_) {
    if (array.dtype != DType::f32) continue;
    const auto values = files::view_as<float>(array.bytes, where_);
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
      fail<FileError>(where_, ": ", files::in_quotes(name, 200),
                      " holds what is not a finite number; its shard is damaged");
  }
}

const files::ArrayView& GraphWeights::find(std::string_view name) const {
  const auto found = arrays_.find(std::string(name));
  if (found == arrays_.end())
    fail<FileError>(where_, ": there is no array ", files::in_quotes(name, 200),
                    "; is this the sentence encoder?");
  return found->second;
}

Tensor GraphWeights::tensor(std::string_view name, const Shape& shape) const {
  const files::ArrayView& array = find(name);
  bool fits = array.dtype == DType::f32 && std::ssize(array.shape) == shape.rank();
  for (int axis = 0; fits && axis < shape.rank(); ++axis) {
    const std::int64_t extent = array.shape[static_cast<std::size_t>(axis)];
    fits = extent > 0 && (shape[axis] == -1 || shape[axis] == extent);
  }
  if (!fits)
    fail<FileError>(where_, ": ", files::in_quotes(name, 200), " is ", name_of(array.dtype),
                    files::shape_text(array.shape), "; f32", files::shape_text(shape.span()),
                    " is needed, -1 being any");
  return from_array(array);
}

double GraphWeights::real(std::string_view name) const {
  return tensor(name, Shape{}).item();
}

std::int64_t GraphWeights::integer(std::string_view name) const {
  const files::ArrayView& array = find(name);
  if (array.dtype != DType::i32 || array.bytes.size() != sizeof(std::int32_t))
    fail<FileError>(where_, ": ", files::in_quotes(name, 200), " is not one int32");
  return files::copy_as<std::int32_t>(array.bytes)[0];
}

}  // namespace attn::tasks
