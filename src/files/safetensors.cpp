// SPDX-License-Identifier: Apache-2.0

#include "attn/files/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/bytes.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/foreign_format.hpp"
#include "files/safetensors_header.hpp"

namespace attn::files {
namespace {

constexpr std::uint64_t kLengthSize = 8;

/// `read_at(offset, span)` fills the span from the file or the memory.
template <class ReadAt>
Safetensors load(std::uint64_t size, const std::string& where, const ReadAt& read_at) {
  if (size < kLengthSize)
    fail<FileError>(where, ": ", size, " bytes; a safetensors file has at least 8");
  std::uint64_t header_size = 0;
  read_at(0, std::as_writable_bytes(std::span(&header_size, 1)));
  const std::uint64_t most = std::min(size - kLengthSize, kMaxHeaderSize);
  if (header_size > most) {
    // Not sooner: the size of a header may look like the beginning of a pickle.
    std::array<std::byte, kForeignHead> head{};
    const auto begin = std::span(head).first(std::min<std::uint64_t>(size, head.size()));
    read_at(0, begin);
    if (const std::string other = foreign_format(begin); !other.empty())
      fail<FileError>(where, ": not safetensors but ", other);
    fail<FileError>(where, ": a header of ", header_size, " bytes; accepted: at most ", most,
                    " in a file of ", size);
  }

  std::string text(static_cast<std::size_t>(header_size), '\0');
  read_at(kLengthSize, std::as_writable_bytes(std::span(text.data(), text.size())));
  const std::uint64_t data_begin = kLengthSize + header_size;
  SafetensorsHeader header = parse_header(text, size - data_begin, where);

  Bytes data = allocate(size - data_begin, where);
  read_at(data_begin, data.span());
  std::vector<ArrayView> tensors;
  tensors.reserve(header.entries.size());
  for (auto& [name, dtype, shape, begin, end] : header.entries) {
    const auto bytes = std::as_const(data).span().subspan(begin, end - begin);
    if (dtype == DType::boolean)
      check_elements(dtype, bytes, where + ": tensor " + in_quotes(name));
    tensors.push_back({std::move(name), dtype, std::move(shape), bytes});
  }
  return {where, std::move(header.metadata), std::move(tensors), std::move(data)};
}

void validate_all(std::span<const ArrayView> tensors, const Metadata& metadata) {
  const std::string where = "attn::files::write_safetensors: ";
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const ArrayView& tensor : tensors) {
    validate(tensor, where + "tensor " + in_quotes(tensor.name));
    if (tensor.name == kMetadataKey || !is_utf8(tensor.name))
      fail(where, "a tensor cannot be called ", in_quotes(tensor.name),
           "; accepted: other UTF-8 text");
    names.push_back(tensor.name);
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) fail(where, "two tensors are called ", in_quotes(*twice));
  for (const auto& [key, value] : metadata)
    if (!is_utf8(key) || !is_utf8(value))
      fail(where, "metadata ", in_quotes(key), ": ", in_quotes(value), " is not UTF-8");
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// The header, padded so that the data begin on a cache line.
std::string header_text(std::span<const ArrayView* const> tensors, const Metadata& metadata) {
  std::string text = "{";
  if (!metadata.empty())
    text += in_quotes(kMetadataKey) + ":" + nlohmann::json(metadata).dump() + ",";
  std::uint64_t offset = 0;
  for (const ArrayView* tensor : tensors) {
    text += json_text(tensor->name) + R"(:{"dtype":")";
    text += safetensors_name(tensor->dtype);
    text += R"(","shape":)" + nlohmann::json(tensor->shape).dump();
    text += R"(,"data_offsets":[)" + std::to_string(offset) + ",";
    offset += tensor->bytes.size();
    text += std::to_string(offset) + "]},";
  }
  if (text.back() == ',') text.pop_back();
  text += "}";
  constexpr auto kAlignment = static_cast<std::size_t>(Bytes::kAlignment);
  while ((kLengthSize + text.size()) % kAlignment != 0) text += ' ';
  return text;
}

}  // namespace

Safetensors::Safetensors(std::string where, Metadata metadata, std::vector<ArrayView> tensors,
                         Bytes data)
    : where_(std::move(where)),
      metadata_(std::move(metadata)),
      tensors_(std::move(tensors)),
      by_name_(tensors_.size()),
      data_(std::move(data)) {
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::ranges::sort(by_name_, {},
                    [&](std::size_t i) { return std::string_view(tensors_[i].name); });
}

const ArrayView* Safetensors::find(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::size_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

const ArrayView& Safetensors::at(std::string_view name) const {
  const ArrayView* found = find(name);
  if (found != nullptr) return *found;
  constexpr std::size_t kMostShown = 8;
  std::string held;
  for (const std::size_t i : std::span(by_name_).first(std::min(by_name_.size(), kMostShown)))
    held += (held.empty() ? ": " : ", ") + in_quotes(tensors_[i].name);
  if (by_name_.size() > kMostShown) held += ", ...";
  fail<FileError>(where_, ": there is no tensor ", in_quotes(name), " among the ",
                  by_name_.size(), " here", held);
}

const ArrayView& Safetensors::typed(std::string_view name, DType dtype) const {
  const ArrayView& tensor = at(name);
  check_dtype(dtype, tensor.dtype, describe(name));
  return tensor;
}

std::string Safetensors::describe(std::string_view name) const {
  return where_ + ": tensor " + in_quotes(name);
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  return load(
      file.size(), "attn::files::read_safetensors: " + path_text(path),
      [&](std::uint64_t offset, std::span<std::byte> out) { file.read_at(offset, out); });
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, std::string_view where) {
  return load(bytes.size(), std::string(where),
              [&](std::uint64_t offset, std::span<std::byte> out) {
                if (!out.empty()) std::memcpy(out.data(), bytes.data() + offset, out.size());
              });
}

void write_safetensors(const std::filesystem::path& path, std::span<const ArrayView> tensors,
                       const Metadata& metadata) {
  validate_all(tensors, metadata);
  std::vector<const ArrayView*> order;
  order.reserve(tensors.size());
  for (const ArrayView& tensor : tensors) order.push_back(&tensor);
  // Each size divides the one before it, so every tensor starts on a multiple of its own.
  std::ranges::sort(order, [](const ArrayView* a, const ArrayView* b) {
    return std::tuple(size_of(b->dtype), a) < std::tuple(size_of(a->dtype), b);
  });

  const std::string header = header_text(order, metadata);
  if (header.size() > kMaxHeaderSize)
    fail("attn::files::write_safetensors: names and metadata take ", header.size(),
         " bytes; accepted: at most ", kMaxHeaderSize);
  const std::uint64_t header_size = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header_size, 1)));
  file.write(header);
  for (const ArrayView* tensor : order) file.write(tensor->bytes);
  file.commit();
}

}  // namespace attn::files
