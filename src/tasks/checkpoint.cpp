#include "attn/tasks/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

// Arrays in several files of bounded size, for checkpoints that must be carried piece by
// piece.

/// The smallest bound: room for a header and some elements.
constexpr std::uint64_t kLeastShardBytes = 4096;

/// What such files held, whole again.
class JoinedArrays {
 public:
  explicit JoinedArrays(std::vector<files::Safetensors> shards, std::string where);

  /// FileError when it is not there or a part of it is missing. The shape is that of the file,
  /// or flat when the array was cut.
  files::ArrayView at(const std::string& name);

 private:
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    const files::ArrayView* array = nullptr;
  };

  std::vector<files::Safetensors> shards_;
  std::map<std::string, std::vector<Part>> parts_;
  std::map<std::string, std::vector<std::byte>> joined_;
  std::string where_;
};

/// At most what an array takes in a header besides its name: dtype, shape, offsets, marks.
constexpr std::uint64_t kHeaderOfAnArray = 160;
/// Length, braces, alignment.
constexpr std::uint64_t kHeaderOfAFile = 256;

std::uint64_t cost(const files::ArrayView& array) {
  return array.bytes.size() + array.name.size() + 24 * array.shape.size() + kHeaderOfAnArray;
}

/// A range behind a name, "[begin:end]".
struct Range {
  std::string_view name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
std::optional<Range> range_of(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || !name.ends_with(']')) return std::nullopt;
  Range range{.name = name.substr(0, open)};
  const char* at = name.data() + open + 1;
  const char* last = name.data() + name.size() - 1;
  const auto begin = std::from_chars(at, last, range.begin);
  if (begin.ec != std::errc{} || begin.ptr == last || *begin.ptr != ':') return std::nullopt;
  const auto end = std::from_chars(begin.ptr + 1, last, range.end);
  if (end.ec != std::errc{} || end.ptr != last) return std::nullopt;
  if (range.begin < 0 || range.end < range.begin) return std::nullopt;
  return range;
}

/// The arrays in lists, each small enough for a safetensors file of `most` bytes. An array that
/// is larger than a file is cut into flat parts named "name[begin:end]", in elements.
std::vector<std::vector<files::ArrayView>> cut_into_shards(
    std::span<const files::ArrayView> arrays, std::uint64_t most) {
  if (most < kLeastShardBytes)
    fail("attn::tasks::cut_into_shards: files of ", most, " bytes; ", kLeastShardBytes,
         " and more are accepted");
  const std::uint64_t room = most - kHeaderOfAFile;
  std::vector<std::vector<files::ArrayView>> shards;
  std::uint64_t used = room;  // the first array opens a shard
  const auto add = [&](files::ArrayView array) {
    const std::uint64_t more = cost(array);
    if (used + more > room) {
      shards.emplace_back();
      used = 0;
    }
    used += more;
    shards.back().push_back(std::move(array));
  };
  for (const files::ArrayView& array : arrays) {
    if (cost(array) <= room) {
      add(array);
      continue;
    }
    const std::size_t size = size_of(array.dtype);
    const std::size_t count = array.bytes.size() / size;
    // Ranges are written with up to 42 characters.
    const std::size_t piece = (room - kHeaderOfAnArray - 24 - 42 - array.name.size()) / size;
    for (std::size_t begin = 0; begin < count; begin += piece) {
      const std::size_t end = std::min(count, begin + piece);
      add({.name = array.name + "[" + std::to_string(begin) + ":" + std::to_string(end) + "]",
           .dtype = array.dtype,
           .shape = {static_cast<std::int64_t>(end - begin)},
           .bytes = array.bytes.subspan(begin * size, (end - begin) * size)});
    }
  }
  return shards;
}

JoinedArrays::JoinedArrays(std::vector<files::Safetensors> shards, std::string where)
    : shards_(std::move(shards)), where_(std::move(where)) {
  for (const files::Safetensors& shard : shards_)
    for (const files::ArrayView& array : shard.tensors()) {
      const auto range = range_of(array.name);
      const std::string name(range ? range->name : std::string_view(array.name));
      parts_[name].push_back({range ? range->begin : 0, range ? range->end : -1, &array});
    }
}

files::ArrayView JoinedArrays::at(const std::string& name) {
  const auto found = parts_.find(name);
  if (found == parts_.end())
    fail<FileError>(where_, ": ", files::in_quotes(name), " is missing");
  std::vector<Part>& parts = found->second;
  if (parts.size() == 1 && parts[0].end < 0) return *parts[0].array;
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.begin < b.begin; });
  std::vector<std::byte>& bytes = joined_[name];
  bytes.clear();
  std::int64_t next = 0;
  for (const Part& part : parts) {
    const bool fits = part.begin == next && part.array->dtype == parts[0].array->dtype &&
                      part.array->shape == std::vector{part.end - part.begin};
    if (!fits)
      fail<FileError>(where_, ": the parts of ", files::in_quotes(name),
                      " do not fit together");
    bytes.insert(bytes.end(), part.array->bytes.begin(), part.array->bytes.end());
    next = part.end;
  }
  return {.name = name, .dtype = parts[0].array->dtype, .shape = {next}, .bytes = bytes};
}

namespace fs = std::filesystem;

nlohmann::json json_of(const TrainingState& state) {
  nlohmann::json best = nlohmann::json::array();
  for (const NamedScore& one : state.best) best.push_back({one.name, one.value});
  // Keys use all 64 bits, which JSON readers elsewhere would round.
  return {{"steps", state.steps},
          {"epoch", state.epoch},
          {"batch", state.batch},
          {"random_key", std::to_string(state.random_key)},
          {"random_drawn", std::to_string(state.random_drawn)},
          {"loss_sum", state.loss_sum},
          {"loss_count", state.loss_count},
          {"tokens", state.tokens},
          {"seconds", state.seconds},
          {"processor_seconds", state.processor_seconds},
          {"best", best},
          {"best_step", state.best_step},
          {"without_better", state.without_better}};
}

/// Counts beyond it are not exact in every JSON reader, and no run gets there.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;

TrainingState state_of(const nlohmann::json& json, const std::string& where) {
  const auto whole = [&](const char* key) {
    const std::int64_t value = files::to_int(files::member(json, key, where), where);
    if (value < 0 || value >= kMostCounted)
      fail<FileError>(where, " is damaged: ", key, " is ", value, "; accepted: 0 to 2^53 - 1");
    return value;
  };
  const auto real = [&](const char* key) {
    return files::to_double(files::member(json, key, where), where);
  };
  const auto wide = [&](const char* key) {
    const std::string& digits = files::to_text(files::member(json, key, where), where);
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end)
      fail<FileError>(where, " is damaged: ", key, " is ", files::in_quotes(digits),
                      "; accepted: a whole number from 0 to 2^64 - 1");
    return value;
  };
  TrainingState state{.steps = whole("steps"),
                      .epoch = whole("epoch"),
                      .batch = whole("batch"),
                      .random_key = wide("random_key"),
                      .random_drawn = wide("random_drawn"),
                      .loss_sum = real("loss_sum"),
                      .loss_count = whole("loss_count"),
                      .tokens = whole("tokens"),
                      .seconds = real("seconds"),
                      .processor_seconds = real("processor_seconds"),
                      .best = {},
                      .best_step = whole("best_step"),
                      .without_better = whole("without_better")};
  for (const nlohmann::json& pair : files::member(json, "best", where)) {
    if (!pair.is_array() || pair.size() != 2)
      fail<FileError>(where, " is damaged: best is no list of names and scores");
    state.best.push_back({files::to_text(pair[0], where), files::to_double(pair[1], where)});
  }
  return state;
}

using Leaves = std::map<std::string, std::string>;

/// {"model": {"dim": 64}} as model.dim and 64.
void collect_leaves(const nlohmann::json& value, const std::string& name, Leaves& leaves) {
  if (!value.is_object()) {
    leaves[name] =
        files::printable(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  const std::string prefix = name.empty() ? "" : name + ".";
  for (const auto& [key, inner] : value.items()) collect_leaves(inner, prefix + key, leaves);
}

/// What is trained, a JSON object, behind the precision where that is not f32; null for any
/// other text.
nlohmann::json members_of(const std::string& what, const std::string& where) {
  const std::size_t begin = what.find('{');
  if (begin == std::string::npos) return nullptr;
  try {
    nlohmann::json members = files::parse_json(std::string_view(what).substr(begin), where);
    members["precision"] = begin == 0 ? "f32" : what.substr(0, what.find(' '));
    return members;
  } catch (const FileError&) {
    return nullptr;
  }
}

/// How a checkpoint's training differs from this one.
std::string told_apart(const std::string& was, const std::string& is,
                       const std::string& where) {
  const nlohmann::json before = members_of(was, where);
  const nlohmann::json now = members_of(is, where);
  std::string lines;
  if (before.is_object() && now.is_object()) lines = differences(before, now);
  if (!lines.empty()) return lines;
  return " it was\n  " + files::printable(was) + "\nand this is\n  " + files::printable(is);
}

/// Shards lie beside the checkpoint, and their names begin with its.
bool is_shard_of(const fs::path& file, const fs::path& path) {
  const std::string name = file.filename().string();
  return name.starts_with(path.stem().string() + ".step-") && name.ends_with(".safetensors");
}

/// Files that no checkpoint names yet, so that a kill in between costs nothing.
std::vector<std::string> write_shards(
    const fs::path& path, std::int64_t steps,
    const std::vector<std::vector<files::ArrayView>>& shards) {
  std::vector<std::string> names;
  names.reserve(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    names.push_back(path.stem().string() + ".step-" + std::to_string(steps) + "." +
                    std::to_string(i + 1) + "-of-" + std::to_string(shards.size()) +
                    ".safetensors");
    files::write_safetensors(path.parent_path() / names.back(), shards[i]);
  }
  return names;
}

/// Those of older checkpoints.
void remove_shards(const fs::path& path, const std::vector<std::string>& but) {
  std::vector<fs::path> old;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (is_shard_of(entry.path(), path) &&
        std::find(but.begin(), but.end(), entry.path().filename().string()) == but.end())
      old.push_back(entry.path());
  std::error_code ignored;  // what stays is in nobody's way
  for (const fs::path& file : old) fs::remove(file, ignored);
}

/// The files that hold a checkpoint's arrays: itself, or its shards.
JoinedArrays arrays_of(const fs::path& path, files::Safetensors file) {
  std::vector<files::Safetensors> all;
  const std::string where = files::path_text(path);
  const auto shards = file.metadata().find("shards");
  if (shards == file.metadata().end()) {
    all.push_back(std::move(file));
    return JoinedArrays(std::move(all), where);
  }
  const nlohmann::json names = files::parse_json(shards->second, where);
  if (!names.is_array()) fail<FileError>(where, ": its list of shards is damaged");
  for (const nlohmann::json& name : names) {
    const fs::path shard = path.parent_path() / files::to_text(name, where);
    if (shard.parent_path() != path.parent_path() || !is_shard_of(shard, path))
      fail<FileError>(where, ": ", files::in_quotes(files::to_text(name, where)),
                      " is no name of a shard");
    all.push_back(files::read_safetensors(shard));
  }
  return JoinedArrays(std::move(all), where);
}

}  // namespace

std::string differences(const nlohmann::json& was, const nlohmann::json& is) {
  Leaves before;
  Leaves now;
  collect_leaves(was, "", before);
  collect_leaves(is, "", now);
  Leaves all = before;
  all.insert(now.begin(), now.end());
  const auto seen = [](const Leaves& leaves, const std::string& name) {
    const auto at = leaves.find(name);
    return at == leaves.end() ? std::string("nothing") : at->second;
  };
  std::string lines;
  for (const auto& [name, value] : all)
    if (seen(before, name) != seen(now, name))
      lines += "\n  " + files::printable(name) + " was " + seen(before, name) + " and is " +
               seen(now, name) + " here";
  return lines;
}

void save_checkpoint(const fs::path& path, const TrainingState& state, const std::string& what,
                     const std::vector<nn::NamedTensor>& tensors, std::uint64_t shard_bytes) {
  std::vector<files::ArrayView> arrays;
  arrays.reserve(tensors.size());
  // What lies on the GPU is copied, and stays until it is written.
  std::vector<Tensor> here;
  for (const auto& [name, tensor] : tensors) {
    here.push_back(tensor.detach().to(Device::cpu));
    arrays.push_back(to_array(name, here.back()));
  }
  files::Metadata metadata{{"training", json_of(state).dump()}, {"what", what}};
  std::vector<std::string> shards;
  if (shard_bytes > 0) {
    shards = write_shards(path, state.steps, cut_into_shards(arrays, shard_bytes));
    metadata.emplace("shards", nlohmann::json(shards).dump());
    arrays.clear();
  }
  files::write_safetensors(path, arrays, metadata);
  remove_shards(path, shards);
}

TrainingState load_checkpoint(const fs::path& path, const std::string& what,
                              const std::vector<nn::NamedTensor>& tensors) {
  const std::string where = files::path_text(path);
  files::Safetensors file = files::read_safetensors(path);
  const auto metadata = [&](const char* key) -> const std::string& {
    const auto at = file.metadata().find(key);
    if (at == file.metadata().end()) fail<FileError>(where, " is no checkpoint: no ", key);
    return at->second;
  };
  if (metadata("what") != what)
    fail(where, " belongs to another training:", told_apart(metadata("what"), what, where),
         "\nGive the options and data it began with, or another folder.");
  const TrainingState state = state_of(files::parse_json(metadata("training"), where), where);
  JoinedArrays arrays = arrays_of(path, std::move(file));
  const auto fits = [](const files::ArrayView& array, const Tensor& tensor) {
    const Shape shape{std::span(array.shape)};
    const bool flat = shape.rank() == 1 && shape[0] == tensor.numel();  // it was cut
    return array.dtype == tensor.dtype() && (shape == tensor.shape() || flat);
  };
  for (const auto& [name, tensor] : tensors) {
    const files::ArrayView array = arrays.at(name);
    if (!fits(array, tensor))
      fail<FileError>(where, ": ", name, " is ", name_of(array.dtype),
                      files::shape_text(array.shape), ", not ", tensor.text());
  }
  const NoGrad off_the_tape;
  for (const auto& [name, tensor] : tensors)
    Tensor(tensor).copy_from(from_array(arrays.at(name)).reshape(tensor.shape()));
  return state;
}

}  // namespace attn::tasks
