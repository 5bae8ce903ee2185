#include "attn/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/device.hpp"
#include "attn/tensor/tape.hpp"

namespace attn {
namespace {

Tensor counted(const Shape& shape) {
  return Tensor::arange(shape.numel(), DType::f32).reshape(shape);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Tensor, ViewsShareStorageAndKeepOrder) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(x.transpose(0, 2).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(x.transpose(0, 2).raw(), x.raw());
  EXPECT_FALSE(x.transpose(0, 2).is_contiguous());
  EXPECT_EQ(x.transpose(1, 2).select(0, 1).to_vector<float>(),
            (std::vector<float>{12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}));
  EXPECT_EQ(x.slice(1, 1, 3).select(0, 0).to_vector<float>(),
            (std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(x.reshape({6, -1}).shape(), (Shape{6, 4}));
  EXPECT_EQ(x.flatten(0, 1).shape(), (Shape{6, 4}));
}

TEST(Tensor, ExpandRepeatsWithoutCopying) {
  const Tensor x = counted({3, 1});
  const Tensor wide = x.expand({2, 3, 2});
  EXPECT_EQ(wide.raw(), x.raw());
  EXPECT_EQ(wide.to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
}

TEST(Tensor, ZeroExtentsAndNoAxesWork) {
  EXPECT_EQ(Tensor::zeros({0, 3}).numel(), 0);
  EXPECT_EQ(Tensor::zeros({0, 3}).transpose(0, 1).contiguous().shape(), (Shape{3, 0}));
  EXPECT_EQ(Tensor::full({}, 2.5).item(), 2.5);
}

TEST(Tensor, ConvertsBetweenAllElementTypes) {
  const Tensor x = Tensor::from(std::vector<float>{-2.0f, 0.0f, 1.5f}, {3});
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16})
    EXPECT_EQ(x.to(dtype).to(DType::f32).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(x.to(DType::i64).to_vector<std::int64_t>(), (std::vector<std::int64_t>{-2, 0, 1}));
  EXPECT_EQ(x.to(DType::boolean).to_vector<bool>(), (std::vector<bool>{true, false, true}));
}

TEST(Tensor, MisuseSaysWhatWasSeenAndWhatIsAccepted) {
  const Tensor x = counted({2, 3});
  EXPECT_NE(message_of([&] { (void)x.reshape({4, 2}); }).find("6 elements"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)x.data<double>(); }).find("f32[2, 3]"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)x.slice(1, 2, 9); }).find("<= 3"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)x.item(); }).find("one number"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)Tensor().shape(); }).find("without a tensor"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)Tensor::empty({-1}); }).find("0 and more"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)Tensor::empty({1}, DType::i8); }).find("boolean"),
            std::string::npos);
  // Where a GPU is, tests/gpu asks it.
  if (!gpu::available()) {
    EXPECT_THROW((void)Tensor::empty({1}, DType::f32, Device::gpu), Error);
  }
  EXPECT_THROW((void)Tensor::empty({INT64_MAX / 2, 4}), InvalidArgument);
  EXPECT_THROW((void)x.permute({0, 0}), InvalidArgument);
  EXPECT_THROW((void)x.expand({2, 4}), InvalidArgument);
}

TEST(Storage, IsUsedAgainAndCounted) {
  release_cached_memory();
  const std::size_t before = memory_use().live;
  {
    const Tensor x = Tensor::empty({1000});
    EXPECT_GE(memory_use().live, before + 4000);
  }
  EXPECT_EQ(memory_use().live, before);
  EXPECT_GE(memory_use().cached, 4000u);
  const Tensor again = Tensor::empty({1000});
  EXPECT_EQ(memory_use().cached, 0u);
}

TEST(Storage, AdoptedMemoryIsReleasedOnce) {
  int released = 0;
  std::vector<float> numbers(4, 1.0f);
  {
    const auto storage = Storage::adopt(numbers.data(), 16, [&] { ++released; });
    EXPECT_EQ(storage->data(), numbers.data());
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace attn
