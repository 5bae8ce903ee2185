// Kernel regression, as mechanisms.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/regression/kernel_regression.hpp"
#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"

namespace attn::nn::adapt {
namespace {

constexpr const char* kPaper = "Nadaraya, 1964; Watson, 1964";

/// The width that the option asks for; not defined for none.
Tensor width_of(const MechanismCall& call) {
  const std::string width =
      call.options.word("width", call.has_parameter("w") ? "scalar" : "none");
  if (width == "none") return {};
  if (width != "scalar" && width != "diagonal")
    refuse("attn::nn::nadaraya_watson: width", width, {"none", "scalar", "diagonal"});
  Tensor w = call.parameter("w").detach().clone();
  if (width == "scalar" && w.numel() != 1)
    fail("attn::nn::nadaraya_watson: a scalar width of ", w.text(), "; [1] is accepted");
  return w.set_requires_grad();
}

MechanismResult run_regression(const MechanismCall& call) {
  const Tensor w = width_of(call);
  const auto look = choice<decltype(&nadaraya_watson)>(
      "attn::nn::nadaraya_watson: form", call.options.word("form", "vector"),
      {{"scalar", nadaraya_watson_scalar}, {"vector", nadaraya_watson}});
  std::vector<NamedTensor> parameters;
  if (w.defined()) parameters.push_back({"w", w});
  return weights_and("output",
                     look(call.need("queries"), call.need("keys"), call.need("values"), w,
                          keep_lengths(call), kBoth),
                     parameters);
}

MechanismResult run_training(const MechanismCall& call) {
  KernelRegression model = loaded(KernelRegression(), call);
  const auto history = model.fit(
      call.need("x_train"), call.need("y_train"),
      {.rate = call.options.number("lr", 0.02), .epochs = call.options.whole("epochs", 100)});
  std::vector<double> loss;
  std::vector<double> width;
  for (const auto& epoch : history) {
    loss.push_back(epoch.loss);
    width.push_back(epoch.width);
  }
  const NoGrad off_the_tape;
  const auto count = static_cast<std::int64_t>(history.size());
  const DType dtype = call.dtype();
  return {{{"loss", Tensor::from(loss, {count}).to(dtype)},
           {"w", Tensor::from(width, {count}).to(dtype)},
           {"y_test", model.predict(call.need("x_test")).output}},
          {}};
}

}  // namespace

std::vector<Mechanism> regression_mechanisms() {
  return {{.name = "nadaraya_watson",
           .title = "Kernel regression: near points count more",
           .formula = "f(q) = sum_j softmax_j(-1/2 |(q - k_j) w|^2) v_j",
           .paper = kPaper,
           .made_of = "score distance, mask lengths, normalise softmax, pool weighted sum",
           .options = "form: scalar (plain numbers) or vector\n"
                      "width: none (w = 1), scalar or diagonal (feature by feature)",
           .snippet = R"(nn::seed(1);
Tensor x = uniform({50}, 0, 5, nn::random());
Tensor where = uniform({20}, 0, 5, nn::random());
Tensor width = Tensor::full({1}, 2.0);
Tensor y = nn::nadaraya_watson_scalar(where, x, sqrt(x), width).output;)",
           .run = run_regression,
           .example = pooling_example(4, 4)
                          .parameters({{"w", {4}}})
                          .options({{"form", "vector"}, {"width", "diagonal"}})},
          {.name = "nadaraya_watson_training",
           .title = "Learning the width of a kernel by leaving each point out",
           .formula = "loss = sum_i (f_{-i}(x_i) - y_i)^2, w <- w - lr dloss/dw",
           .paper = kPaper,
           .made_of = "score distance, mask all but the own point, normalise softmax, pool "
                      "weighted sum; gradient descent",
           .options = "lr: the rate of gradient descent\nepochs: its steps",
           .snippet = R"(nn::seed(1);
Tensor x = uniform({50}, 0, 5, nn::random());
nn::KernelRegression curve({.width = 1.0});
auto history = curve.fit(x, sqrt(x), {.rate = 0.02, .epochs = 20});
Attended found = curve.predict(uniform({20}, 0, 5, nn::random()));)",
           .header = "attn/nn/mechanisms/regression/kernel_regression.hpp",
           .run = run_training,
           .example = Example()
                          .inputs({{"x_train", between(0.0, 5.0, {7})},
                                   {"y_train", {7}},
                                   {"x_test", between(0.0, 5.0, {4})}})
                          .parameters({{"w", Tensor::full({1}, 1.5, DType::f64)}})
                          .options({{"lr", 0.02}, {"epochs", 3.0}}),
           .constants = {"x_train", "y_train", "x_test", "w"},
           .no_gradient = "it is a whole training, whose steps are gradients already"}};
}

}  // namespace attn::nn::adapt
