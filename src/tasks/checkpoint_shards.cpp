#include "tasks/checkpoint_shards.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
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
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"

namespace attn::tasks {
namespace {

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

}  // namespace

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

}  // namespace attn::tasks
