#include "attn/nn/module.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

class Pair : public Module {
 public:
  Pair()
      : first_(add("first", Linear({.in = 3, .out = 2}))),
        second_(add("second", Linear({.in = 2, .out = 1, .bias = Bias::none}))),
        scale_(add("scale", Tensor::full({1}, 2.0))),
        dropout_(add("dropout", Dropout(0.5))) {}

  Tensor operator()(const Tensor& x) const {
    return second_(dropout_(tanh(first_(x)))) * scale_;
  }
  void add_again() { add("scale", Tensor::zeros({1})); }

 private:
  Linear first_;
  Linear second_;
  Tensor scale_;
  Dropout dropout_;
};

TEST(Module, NamesJoinWithDots) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : Pair().named_parameters()) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"scale", "first.weight", "first.bias", "second.weight"}));
}

TEST(Module, CopiesShareTheirParameters) {
  const Pair a;
  const Pair b = a;
  EXPECT_TRUE(a.parameters()[0].same_as(b.parameters()[0]));
  EXPECT_EQ(a.parameter_count(), 1 + 6 + 2 + 2);
}

TEST(Module, TrainAndEvalReachTheChildren) {
  Pair pair;
  const Tensor x = Tensor::full({4, 3}, 1.0);
  pair.eval();
  EXPECT_EQ(pair(x).to_vector<float>(), pair(x).to_vector<float>());
  pair.train();
  bool differs = false;
  for (int i = 0; i < 10; ++i)
    differs = differs || pair(x).to_vector<float>() != pair(x).to_vector<float>();
  EXPECT_TRUE(differs);
}

TEST(Module, ConversionIsSeenByEveryCopy) {
  const Pair pair;
  const Pair copy = pair;
  pair.to(DType::f64);
  for (const auto& [name, tensor] : copy.named_parameters())
    EXPECT_EQ(tensor.dtype(), DType::f64) << name;
  sum(copy(Tensor::zeros({1, 3}, DType::f64))).backward();
  copy.zero_grad();
  EXPECT_FALSE(copy.parameters()[0].grad().defined());
}

TEST(Module, ANameIsTakenOnce) {
  Pair pair;
  EXPECT_THROW(pair.add_again(), InvalidArgument);
}

TEST(Module, SeedsMakeTheSameModule) {
  seed(3);
  const Linear a({.in = 4, .out = 4});
  seed(3);
  const Linear b({.in = 4, .out = 4});
  EXPECT_EQ(a.weight().to_vector<float>(), b.weight().to_vector<float>());
}

TEST(Recurrent, HasTheNamesOfTorch) {
  std::vector<std::string> names;
  const Gru gru({.in = 2, .hidden = 3, .layers = 2, .direction = Direction::both});
  for (const auto& [name, tensor] : gru.named_parameters()) names.push_back(name);
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(names[4], "weight_ih_l0_reverse");
  EXPECT_EQ(gru.weights()[2].weight_ih.shape(), (Shape{9, 6}));
}

}  // namespace
}  // namespace attn::nn
