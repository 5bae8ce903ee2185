// Files of MNIST: parsed, or refused with a reason.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

struct Idx {
  std::string images{"\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c", 16};
  std::string labels{"\0\0\x08\x01\0\0\0\x02\x07\x03", 10};

  Idx() { images += std::string(784, '\x05') + std::string(784, '\xff'); }

  Digits parsed() const {
    return parse_digits(std::as_bytes(std::span(images)), std::as_bytes(std::span(labels)),
                        "idx");
  }
};

TEST(Digits, AreReadFromIdx) {
  const Digits digits = Idx().parsed();
  ASSERT_EQ(digits.size(), 2u);
  EXPECT_EQ(digits.labels, (std::vector<std::uint8_t>{7, 3}));
  EXPECT_EQ(digits.at(0)[0], 5);
  EXPECT_EQ(digits.at(1)[783], 255);
}

TEST(Digits, DamagedFilesAreErrors) {
  const auto complaint = [](void (*damage)(Idx&)) {
    Idx idx;
    damage(idx);
    return message_of<FileError>([&] { idx.parsed(); });
  };
  EXPECT_NE(complaint([](Idx& idx) { idx.images.resize(12); }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.images.pop_back(); }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.images[3] = 1; }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.images[11] = 27; }), "");
  // Counts that overflow what a product of 32 bits could hold.
  EXPECT_NE(complaint([](Idx& idx) { idx.images[4] = '\xff'; }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.labels.pop_back(); }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.labels[7] = 3; }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.labels[8] = 10; }), "");
  EXPECT_NE(complaint([](Idx& idx) { idx.labels.clear(); }), "");
}

}  // namespace
}  // namespace attn::tasks
