#include "tasks/watch/inflate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"

namespace attn::tasks::watch {
namespace {

constexpr int kLongestCode = 15;
constexpr std::size_t kLiterals = 288;
constexpr std::size_t kDistances = 30;

/// A canonical Huffman code: how many codes of each length, and their symbols in order.
struct Code {
  std::array<int, kLongestCode + 1> counts{};
  std::vector<int> symbols;

  explicit Code(std::span<const int> lengths) {
    for (const int length : lengths) ++counts[static_cast<std::size_t>(length)];
    counts[0] = 0;
    std::array<int, kLongestCode + 2> next{};
    for (std::size_t i = 1; i <= kLongestCode; ++i) next[i + 1] = next[i] + counts[i];
    symbols.assign(static_cast<std::size_t>(next[kLongestCode + 1]), 0);
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const auto length = static_cast<std::size_t>(lengths[symbol]);
      if (length > 0)
        symbols[static_cast<std::size_t>(next[length]++)] = static_cast<int>(symbol);
    }
  }

  /// More codes than there are bits for.
  bool is_overfull() const {
    int left = 1;
    for (std::size_t i = 1; i <= kLongestCode; ++i) {
      left = 2 * left - counts[i];
      if (left < 0) return true;
    }
    return false;
  }
};

class Inflater {
 public:
  Inflater(std::span<const std::uint8_t> bytes, std::size_t size, const std::string& where)
      : bytes_(bytes), size_(size), where_(where) {}

  std::vector<std::uint8_t> run() {
    if (bytes_.size() < 2 || (bytes_[0] & 0x0FU) != 8 || (bytes_[1] & 0x20U) != 0 ||
        (bytes_[0] * 256U + bytes_[1]) % 31 != 0)
      damaged("has no zlib header");
    at_ = 2;
    out_.reserve(size_);
    for (bool last = false; !last;) {
      last = take(1) == 1;
      switch (take(2)) {
        case 0:
          stored();
          break;
        case 1:
          fixed();
          break;
        case 2:
          dynamic();
          break;
        default:
          damaged("has a block of an unknown kind");
      }
    }
    if (out_.size() != size_) damaged("ends too soon");
    return std::move(out_);
  }

 private:
  [[noreturn]] void damaged(const char* what) const {
    fail<FileError>(where_, ": the compressed part ", what);
  }

  unsigned take(int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i) {
      if (bits_ == 0) {
        if (at_ == bytes_.size()) damaged("is cut off");
        current_ = bytes_[at_++];
        bits_ = 8;
      }
      value |= (current_ & 1U) << static_cast<unsigned>(i);
      current_ >>= 1U;
      --bits_;
    }
    return value;
  }

  void put(std::uint8_t byte) {
    if (out_.size() == size_) damaged("holds more than it tells");
    out_.push_back(byte);
  }

  int symbol(const Code& code) {
    int value = 0;
    int first = 0;
    int index = 0;
    for (std::size_t length = 1; length <= kLongestCode; ++length) {
      value |= static_cast<int>(take(1));
      const int count = code.counts[length];
      if (value - count < first)
        return code.symbols[static_cast<std::size_t>(index + value - first)];
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    damaged("has a code that there is not");
  }

  void stored() {
    bits_ = 0;
    const unsigned length = take(16);
    if ((take(16) ^ 0xFFFFU) != length) damaged("has a length that does not fit");
    for (unsigned i = 0; i < length; ++i) put(static_cast<std::uint8_t>(take(8)));
  }

  void fixed() {
    std::array<int, kLiterals> lengths{};
    for (std::size_t i = 0; i < kLiterals; ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<int, kDistances> distances{};
    distances.fill(5);
    codes(Code(lengths), Code(distances));
  }

  void dynamic() {
    const std::size_t literals = take(5) + 257;
    const std::size_t distances = take(5) + 1;
    const std::size_t count = take(4) + 4;
    if (literals > 286 || distances > kDistances) damaged("has too many codes");
    constexpr std::array<std::size_t, 19> kOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
    std::array<int, 19> small{};
    for (std::size_t i = 0; i < count; ++i) small[kOrder[i]] = static_cast<int>(take(3));
    const Code of_lengths(small);
    if (of_lengths.is_overfull()) damaged("has codes that cannot be");
    std::vector<int> lengths;
    while (lengths.size() < literals + distances) {
      const int one = symbol(of_lengths);
      if (one < 16) {
        lengths.push_back(one);
        continue;
      }
      if (one == 16 && lengths.empty()) damaged("repeats nothing");
      const int repeated = one == 16 ? lengths.back() : 0;
      const unsigned times = one == 16 ? 3 + take(2) : one == 17 ? 3 + take(3) : 11 + take(7);
      lengths.insert(lengths.end(), times, repeated);
    }
    if (lengths.size() > literals + distances) damaged("has more codes than it tells");
    const std::span<const int> both(lengths);
    const Code first(both.first(literals));
    const Code second(both.subspan(literals));
    if (first.is_overfull() || second.is_overfull()) damaged("has codes that cannot be");
    codes(first, second);
  }

  void codes(const Code& literals, const Code& distances) {
    constexpr std::array<unsigned, 29> kLengths{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr std::array<int, 29> kLengthBits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                              2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    constexpr std::array<unsigned, 30> kFar{
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
      const int one = symbol(literals);
      if (one < 256) {
        put(static_cast<std::uint8_t>(one));
        continue;
      }
      if (one == 256) return;
      const auto at = static_cast<std::size_t>(one - 257);
      if (at >= kLengths.size()) damaged("has a length that there is not");
      const unsigned length = kLengths[at] + take(kLengthBits[at]);
      const auto far = static_cast<std::size_t>(symbol(distances));
      if (far >= kFar.size()) damaged("has a distance that there is not");
      const std::size_t distance =
          kFar[far] + take(far < 2 ? 0 : static_cast<int>(far / 2) - 1);
      if (distance > out_.size()) damaged("copies from before its beginning");
      for (unsigned i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t size_;
  const std::string& where_;
  std::size_t at_ = 0;
  unsigned current_ = 0;
  int bits_ = 0;
  std::vector<std::uint8_t> out_;
};

}  // namespace

std::vector<std::uint8_t> inflated(std::span<const std::uint8_t> bytes, std::size_t size,
                                   const std::string& where) {
  return Inflater(bytes, size, where).run();
}

}  // namespace attn::tasks::watch
