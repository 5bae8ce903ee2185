// SPDX-License-Identifier: Apache-2.0

#include "attn/files/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
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
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/sax.hpp"

namespace attn::files {
namespace {

/// The key that holds the metadata and that no tensor may have as a name.
constexpr std::string_view kMetadataKey = "__metadata__";

/// The limit of the format's own library, in bytes.
constexpr std::uint64_t kMaxHeaderSize = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<SafetensorsEntry> entries;  ///< sorted by place
};

constexpr std::string_view kDtypes = "F64, F32, BF16, F16, I64, I32, I16, I8, U8, BOOL";
constexpr std::string_view kFields = "dtype, shape, data_offsets";
constexpr std::string_view kInteger = "integers from 0 to 2^63 - 1";

constexpr std::pair<DType, std::string_view> kNames[] = {
    {DType::f64, "F64"}, {DType::f32, "F32"},     {DType::bf16, "BF16"}, {DType::f16, "F16"},
    {DType::i64, "I64"}, {DType::i32, "I32"},     {DType::i16, "I16"},   {DType::i8, "I8"},
    {DType::u8, "U8"},   {DType::boolean, "BOOL"}};

std::optional<DType> dtype_from(std::string_view name) {
  for (const auto& [dtype, known] : kNames)
    if (known == name) return dtype;
  return std::nullopt;
}

/// Turns parser events into entries. It knows what may come at each place and stops at
/// anything else, so no tree is built and nothing nests deeper than the format does.
class HeaderReader final : public SaxHandler {
 public:
  using SaxHandler::SaxHandler;

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override {
    unexpected("the number " + printable(text, 40));
  }

  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if ((place_ != Place::shape && place_ != Place::offsets) || value > kMax)
      unexpected(std::to_string(value));
    if (place_ == Place::shape) {
      auto& shape = header_.entries.back().shape;
      if (shape.size() == kMaxRank) reject(subject(), "more than ", kMaxRank, " dimensions");
      shape.push_back(static_cast<std::int64_t>(value));
    } else {
      if (offset_count_ == offsets_.size()) unexpected("a third offset");
      offsets_[offset_count_++] = value;
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = std::move(value);
    } else if (place_ == Place::tensor && field_ == Field::dtype) {
      const auto dtype = dtype_from(value);
      if (!dtype) reject(subject(), "dtype ", in_quotes(value), "; accepted: ", kDtypes);
      header_.entries.back().dtype = *dtype;
    } else {
      unexpected(in_quotes(value));
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == kMetadataKey) {
      if (std::exchange(has_metadata_, true)) reject(kMetadataKey, " a second time");
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      header_.entries.emplace_back().name = key_;
      seen_ = {};
      place_ = Place::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::tensor) {
      field_ = field_from(name);
      if (std::exchange(seen_[static_cast<std::size_t>(field_)], true))
        reject(subject(), "key ", in_quotes(name), " a second time");
      return true;
    }
    if (place_ == Place::metadata && header_.metadata.contains(name))
      reject(kMetadataKey, ": key ", in_quotes(name), " a second time");
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor && std::ranges::count(seen_, true) != 3)
      reject(subject(), "one of ", kFields, " is missing");
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || field_ == Field::dtype) unexpected("an array");
    place_ = field_ == Field::shape ? Place::shape : Place::offsets;
    offset_count_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets) {
      if (offset_count_ != 2)
        reject(subject(), offset_count_, " data_offsets; accepted: begin and end");
      header_.entries.back().begin = offsets_[0];
      header_.entries.back().end = offsets_[1];
    }
    place_ = Place::tensor;
    return true;
  }

 private:
  enum class Place { outside, top, metadata, tensor, shape, offsets };
  enum class Field { dtype, shape, data_offsets };

  Field field_from(std::string_view name) const {
    if (name == "dtype") return Field::dtype;
    if (name == "shape") return Field::shape;
    if (name == "data_offsets") return Field::data_offsets;
    reject(subject(), "key ", in_quotes(name), "; accepted: ", kFields);
  }

  std::string subject() const {
    return "tensor " + in_quotes(header_.entries.back().name) + ": ";
  }

  [[noreturn]] void unexpected(const std::string& seen) const {
    switch (place_) {
      case Place::outside:
        reject(seen, "; accepted: an object of tensors");
      case Place::top:
        reject(in_quotes(key_), " is ", seen, "; accepted: an object");
      case Place::metadata:
        reject(kMetadataKey, ": ", in_quotes(key_), " is ", seen, "; accepted: text");
      case Place::shape:
        reject(subject(), "shape holds ", seen, "; accepted: ", kInteger);
      case Place::offsets:
        reject(subject(), "data_offsets hold ", seen, "; accepted: two ", kInteger);
      case Place::tensor:
        break;
    }
    if (field_ == Field::dtype) reject(subject(), "dtype is ", seen, "; accepted: ", kDtypes);
    reject(subject(), field_ == Field::shape ? "shape" : "data_offsets", " is ", seen,
           "; accepted: an array of ", kInteger);
  }

  SafetensorsHeader header_;
  Place place_ = Place::outside;
  std::string key_;
  bool has_metadata_ = false;
  Field field_ = Field::dtype;
  std::array<bool, 3> seen_ = {};
  std::array<std::uint64_t, 2> offsets_ = {};
  std::size_t offset_count_ = 0;
};

void check_entry(const SafetensorsEntry& entry, std::uint64_t data_size,
                 const std::string& where) {
  const std::string tensor = where + ": tensor " + in_quotes(entry.name);
  if (entry.begin > entry.end || entry.end > data_size)
    fail<FileError>(tensor, ": data_offsets [", entry.begin, ", ", entry.end,
                    "]; accepted: begin <= end <= ", data_size, ", the bytes of data here");
  const auto bytes = byte_count(entry.shape, entry.dtype);
  if (!bytes)
    fail<FileError>(tensor, ": shape ", shape_text(entry.shape), " of ", name_of(entry.dtype),
                    "; accepted: less than 2^63 bytes");
  if (*bytes != entry.end - entry.begin)
    fail<FileError>(tensor, ": data_offsets hold ", entry.end - entry.begin, " bytes; shape ",
                    shape_text(entry.shape), " of ", name_of(entry.dtype), " takes ", *bytes);
}

void check_names(const std::vector<SafetensorsEntry>& entries, const std::string& where) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(entry.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    fail<FileError>(where, ": tensor ", in_quotes(*twice), " a second time");
}

/// `entries` are sorted: each must begin where the one before it ends.
void check_tiling(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_size,
                  const std::string& where) {
  std::uint64_t reached = 0;
  for (const auto& entry : entries) {
    if (entry.begin != reached)
      fail<FileError>(where, ": tensor ", in_quotes(entry.name), " begins at ", entry.begin,
                      " and the one before it ends at ", reached,
                      "; accepted: neither a gap nor an overlap");
    reached = entry.end;
  }
  if (reached != data_size)
    fail<FileError>(where, ": tensors end at ", reached, " of ", data_size,
                    " bytes of data; accepted: no bytes behind the last tensor");
}

/// "F32" and so on.
std::string_view safetensors_name(DType dtype) {
  return std::ranges::find(kNames, dtype, &std::pair<DType, std::string_view>::first)->second;
}

/// FileError unless the entries tile exactly `data_size` bytes under different names.
SafetensorsHeader parse_header(std::string_view text, std::uint64_t data_size,
                               const std::string& where) {
  if (!text.starts_with('{'))
    fail<FileError>(where, ": the header begins with ", in_quotes(text.substr(0, 1)),
                    "; accepted: {");
  HeaderReader reader(text, where + ": header");
  reader.run();
  SafetensorsHeader header = reader.take();
  for (const auto& entry : header.entries) check_entry(entry, data_size, where);
  check_names(header.entries, where);
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tie(entry.begin, entry.end, entry.name);
  });
  check_tiling(header.entries, data_size, where);
  return header;
}

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
