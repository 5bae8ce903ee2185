// SPDX-License-Identifier: Apache-2.0

#include "files/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "files/sax.hpp"

namespace attn::files {
namespace {

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

}  // namespace

std::string_view safetensors_name(DType dtype) {
  return std::ranges::find(kNames, dtype, &std::pair<DType, std::string_view>::first)->second;
}

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

}  // namespace attn::files
