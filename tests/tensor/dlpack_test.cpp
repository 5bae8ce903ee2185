#include "attn/tensor/dlpack.hpp"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {
namespace {

/// Numbers of another library, which counts how often it is told to let go.
struct Foreign {
  std::array<float, 6> numbers{0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> shape{2, 2};
  std::array<std::int64_t, 2> strides{3, 2};
  int released = 0;
  DLManagedTensor managed{};

  Foreign() {
    managed.dl_tensor = {numbers.data(), {kDLCPU, 0},    2, {kDLFloat, 32, 1},
                         shape.data(),   strides.data(), 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->released;
    };
  }
};

TEST(Dlpack, SharesNumbersOfAnyStridesAndLetsGoOnce) {
  Foreign foreign;
  {
    const Tensor x = from_dlpack(&foreign.managed);
    EXPECT_EQ(x.shape(), (Shape{2, 2}));
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 2, 3, 5}));
    foreign.numbers[2] = 9.0f;
    EXPECT_EQ(x.transpose(0, 1).to_vector<float>(), (std::vector<float>{0, 3, 9, 5}));
    EXPECT_EQ((x + x).to_vector<float>(), (std::vector<float>{0, 18, 6, 10}));
    const Tensor view = x.select(0, 1);
    EXPECT_EQ(foreign.released, 0);
  }
  EXPECT_EQ(foreign.released, 1);
}

TEST(Dlpack, ReadsOffsetsAndMissingStrides) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  foreign.managed.dl_tensor.byte_offset = 2 * sizeof(float);
  EXPECT_EQ(from_dlpack(&foreign.managed).to_vector<float>(), (std::vector<float>{2, 3, 4, 5}));
  foreign.managed.deleter = nullptr;
  EXPECT_NO_THROW(from_dlpack(&foreign.managed));
}

TEST(Dlpack, ThereAndBackIsTheSameTensor) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::boolean}) {
    const Tensor x = Tensor::arange(24).to(dtype).reshape({2, 3, 4}).slice(1, 1, 3);
    const Tensor y = from_dlpack(to_dlpack(x.transpose(0, 2)));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.shape(), (Shape{4, 2, 2}));
    EXPECT_EQ(y.raw(), x.raw());
    EXPECT_EQ(y.transpose(0, 2).to(DType::f64).to_vector<double>(),
              x.to(DType::f64).to_vector<double>());
  }
}

TEST(Dlpack, AnExportedTensorOutlivesItsOwner) {
  DLManagedTensor* managed = nullptr;
  {
    Tensor leaf = Tensor::full({3}, 2.0).set_requires_grad();
    managed = to_dlpack(leaf * 2.0);
  }
  EXPECT_EQ(managed->dl_tensor.ndim, 1);
  EXPECT_EQ(managed->dl_tensor.shape[0], 3);
  EXPECT_EQ(static_cast<const float*>(managed->dl_tensor.data)[2], 4.0f);
  managed->deleter(managed);
}

TEST(Dlpack, ScalarsAndEmptyTensorsCross) {
  EXPECT_EQ(from_dlpack(to_dlpack(Tensor::full({}, 3.0))).item(), 3.0);
  EXPECT_EQ(from_dlpack(to_dlpack(Tensor::zeros({2, 0}))).shape(), (Shape{2, 0}));
  Foreign foreign;
  foreign.shape = {0, 2};
  foreign.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).shape(), (Shape{0, 2}));
}

TEST(Dlpack, RefusesWhatItCannotReadAndLeavesItToTheCaller) {
  EXPECT_THROW(from_dlpack(nullptr), InvalidArgument);
  const auto refused = [](auto change) {
    Foreign foreign;
    change(foreign.managed.dl_tensor, foreign);
    EXPECT_THROW(from_dlpack(&foreign.managed), Error);
    EXPECT_EQ(foreign.released, 0);
  };
  refused([](DLTensor& t, Foreign&) { t.device.device_type = kDLCUDA; });
  refused([](DLTensor& t, Foreign&) { t.dtype = {kDLInt, 32, 1}; });
  refused([](DLTensor& t, Foreign&) { t.dtype = {kDLFloat, 8, 1}; });
  refused([](DLTensor& t, Foreign&) { t.dtype = {kDLFloat, 32, 2}; });
  refused([](DLTensor& t, Foreign&) { t.ndim = 9; });
  refused([](DLTensor& t, Foreign&) { t.ndim = -1; });
  refused([](DLTensor& t, Foreign&) { t.shape = nullptr; });
  refused([](DLTensor& t, Foreign&) { t.data = nullptr; });
  refused([](DLTensor& t, Foreign&) { t.byte_offset = 1; });
  refused([](DLTensor&, Foreign& f) { f.shape[0] = -2; });
  refused([](DLTensor&, Foreign& f) { f.strides[1] = -1; });
  refused([](DLTensor&, Foreign& f) { f.shape = {INT64_MAX, INT64_MAX}; });
  refused([](DLTensor&, Foreign& f) { f.strides = {INT64_MAX, INT64_MAX}; });
  refused([](DLTensor&, Foreign& f) {
    f.shape = {std::int64_t{1} << 30, 2};
    f.strides = {std::int64_t{1} << 30, std::int64_t{1} << 57};
  });
}

}  // namespace
}  // namespace attn
