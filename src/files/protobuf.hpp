/// ProtobufReader: the fields of a message in protobuf's wire format, one after another,
/// without a schema and without copies.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::files {

/// Every error is a FileError that begins with `where` and the byte of the file. The bytes and
/// `where` must stay. Groups, which protobuf has given up, are refused.
class ProtobufReader {
 public:
  enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  /// `place` is that of the first byte in the file.
  ProtobufReader(std::span<const std::byte> bytes, const std::string& where,
                 std::uint64_t place = 0)
      : bytes_(bytes), where_(where), place_(place) {}

  /// Goes to the next field; false at the end.
  bool next();

  std::uint64_t number() const { return number_; }  ///< of the field
  Wire wire() const { return wire_; }

  // The value of the field; a FileError unless it is of that kind. `name` is for the message.
  std::uint64_t varint(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  float real(std::string_view name) const;
  std::span<const std::byte> bytes(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< UTF-8, or a FileError
  ProtobufReader message(std::string_view name) const;

  /// Of numbers packed in one field: the next of them, as long as the reader is not at its end.
  std::uint64_t packed_varint();
  bool at_end() const { return at_ == bytes_.size(); }

  std::uint64_t place() const { return place_ + begin_; }  ///< of the field in the file
  const std::string& where() const { return where_; }

 private:
  std::uint64_t read_varint();
  std::span<const std::byte> take(std::uint64_t count);
  void expect(Wire wire, std::string_view name) const;

  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::uint64_t place_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::uint64_t number_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t value_ = 0;
  std::span<const std::byte> content_;
};

}  // namespace attn::files
