// SPDX-License-Identifier: Apache-2.0

#include "files/protobuf.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {
namespace {

const char* name_of(ProtobufReader::Wire wire) {
  switch (wire) {
    case ProtobufReader::Wire::varint:
      return "a whole number";
    case ProtobufReader::Wire::fixed64:
      return "eight bytes";
    case ProtobufReader::Wire::bytes:
      return "bytes";
    case ProtobufReader::Wire::fixed32:
      return "four bytes";
  }
  return "nothing";
}

/// Little endian, as the format is on every machine.
std::uint64_t number_of(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

std::uint64_t ProtobufReader::read_varint() {
  constexpr int kMostBits = 64;
  constexpr std::uint64_t kSeven = 0x7F;
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  for (int shift = 0; shift < kMostBits; shift += 7) {
    if (at_ == bytes_.size())
      fail<FileError>(where_, ": byte ", place_ + begin, ": a number is cut short");
    const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
    // Of the tenth byte one bit is left.
    if (shift == kMostBits - 1 && byte > 1) break;
    value |= (byte & kSeven) << shift;
    if (byte <= kSeven) return value;
  }
  fail<FileError>(where_, ": byte ", place_ + begin, ": a number of more than 64 bits");
}

std::span<const std::byte> ProtobufReader::take(std::uint64_t count) {
  const std::size_t left = bytes_.size() - at_;
  if (count > left)
    fail<FileError>(where_, ": byte ", place_ + begin_, ": field ", number_, " has ", count,
                    " bytes; ", left, " are left");
  const auto part = bytes_.subspan(at_, static_cast<std::size_t>(count));
  at_ += part.size();
  return part;
}

bool ProtobufReader::next() {
  constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 29) - 1;
  if (at_end()) return false;
  begin_ = at_;
  const std::uint64_t tag = read_varint();
  number_ = tag >> 3;
  if (number_ == 0 || number_ > kLargestNumber)
    fail<FileError>(where_, ": byte ", place(), ": there is no field ", number_,
                    "; is this a protobuf file?");
  switch (tag & 7) {
    case 0:
      wire_ = Wire::varint;
      value_ = read_varint();
      return true;
    case 1:
      wire_ = Wire::fixed64;
      value_ = number_of(take(8));
      return true;
    case 2:
      wire_ = Wire::bytes;
      content_ = take(read_varint());
      return true;
    case 5:
      wire_ = Wire::fixed32;
      value_ = number_of(take(4));
      return true;
    default:
      fail<FileError>(where_, ": byte ", place(), ": field ", number_, " is of kind ", tag & 7,
                      "; 0, 1, 2 and 5 are read");
  }
}

void ProtobufReader::expect(Wire wire, std::string_view name) const {
  if (wire_ != wire)
    fail<FileError>(where_, ": byte ", place(), ": ", name, " is ", name_of(wire_), "; ",
                    name_of(wire), " is accepted");
}

std::uint64_t ProtobufReader::varint(std::string_view name) const {
  expect(Wire::varint, name);
  return value_;
}

std::int64_t ProtobufReader::integer(std::string_view name) const {
  return static_cast<std::int64_t>(varint(name));
}

float ProtobufReader::real(std::string_view name) const {
  expect(Wire::fixed32, name);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
}

std::span<const std::byte> ProtobufReader::bytes(std::string_view name) const {
  expect(Wire::bytes, name);
  return content_;
}

std::string ProtobufReader::text(std::string_view name) const {
  const auto content = bytes(name);
  std::string text(reinterpret_cast<const char*>(content.data()), content.size());
  if (!is_utf8(text))
    fail<FileError>(where_, ": byte ", place(), ": ", name, " is not UTF-8: ", in_quotes(text));
  return text;
}

ProtobufReader ProtobufReader::message(std::string_view name) const {
  const auto content = bytes(name);
  return {content, where_, place_ + static_cast<std::uint64_t>(content.data() - bytes_.data())};
}

std::uint64_t ProtobufReader::packed_varint() {
  begin_ = at_;
  return read_varint();
}

}  // namespace attn::files
