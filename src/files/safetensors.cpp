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
#include "files/safetensors_header.hpp"

namespace attn::files {
namespace {

/// Bytes of the beginning that are enough to tell.
constexpr std::size_t kForeignHead = 128;

using namespace std::string_view_literals;

constexpr std::string_view kFromTorch =
    "; convert it in Python: safetensors.torch.save_file(torch.load(FILE, "
    "map_location=\"cpu\", "
    "weights_only=True), \"model.safetensors\"), where torch.load gives a state dict";

/// The name of a zip archive's first member: its length is at byte 26, the name at 30.
std::string_view first_member(std::string_view head) {
  constexpr std::size_t kLength = 26, kName = 30;
  if (head.size() < kName) return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(head[i]); };
  const std::size_t length = byte(kLength) + 256u * byte(kLength + 1);
  return head.substr(kName, std::min(length, head.size() - kName));
}

/// What the file is and how it becomes safetensors, or nothing when its beginning is not known.
std::string foreign_format(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("PK\3\4"sv)) {
    const std::string_view member = first_member(text);
    if (member.ends_with(".npy"))
      return "a NumPy archive (.npz); convert it in Python: "
             "safetensors.numpy.save_file(dict(numpy.load(FILE)), \"model.safetensors\")";
    if (member.ends_with(".pkl"))
      return "a PyTorch file (a zip archive with a pickle inside)" + std::string(kFromTorch);
    return "a zip archive; files of PyTorch (.pt, .pth, .bin) are such" +
           std::string(kFromTorch);
  }
  // Protocols 2 to 5 of pickle; older PyTorch files begin so too.
  if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5)
    return "a Python pickle, as older versions of PyTorch write" + std::string(kFromTorch);
  if (text.starts_with("\x93NUMPY"sv))
    return "a NumPy array (.npy); safetensors holds arrays with names";
  if (text.starts_with("\x89HDF"sv)) return "an HDF5 file, as Keras writes";
  if (text.starts_with("GGUF"sv)) return "a GGUF file, as llama.cpp reads";
  if (text.starts_with("\x1f\x8b"sv)) return "compressed by gzip; gunzip comes first";
  if (text.starts_with("version https://git-lfs"sv))
    return "a pointer of Git LFS in place of the file; `git lfs pull` gets the file itself";
  return {};
}

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
