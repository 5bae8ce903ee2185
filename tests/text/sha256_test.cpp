// SHA-256 equals the published digests at every length around a block.

#include "attn/text/sha256.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace attn::text {
namespace {

std::string hex_of(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

// The examples of FIPS 180-4 and NIST's page of test vectors.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, EveryLengthAroundABlockHasItsOwnDigest) {
  for (std::size_t length = 50; length < 130; ++length)
    EXPECT_NE(hex_of(std::string(length, 'x')), hex_of(std::string(length + 1, 'x'))) << length;
}

}  // namespace
}  // namespace attn::text
