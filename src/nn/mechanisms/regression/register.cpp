// Kernel regression, as mechanisms.

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/mechanisms/regression/kernel_regression.hpp"
#include "attn/nn/mechanisms/regression/nadaraya_watson.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "nn/mechanisms/families.hpp"

namespace attn::nn {
namespace {

constexpr const char* kPaper = "Nadaraya, 1964; Watson, 1964";

/// The width that the option asks for; not defined for none.
Tensor width_of(const Given& given) {
  const std::string width =
      given.options.word("width", given.has_parameter("w") ? "scalar" : "none");
  if (width == "none") return {};
  if (width != "scalar" && width != "diagonal")
    fail("attn::nn::nadaraya_watson: width '", width,
         "'; none, scalar and diagonal are accepted");
  Tensor w = given.parameter("w").detach().clone();
  if (width == "scalar" && w.numel() != 1)
    fail("attn::nn::nadaraya_watson: a scalar width of ", w.text(), "; [1] is accepted");
  return w.set_requires_grad();
}

Made run_regression(const Given& given) {
  const Tensor w = width_of(given);
  const std::string form = given.options.word("form", "vector");
  if (form != "vector" && form != "scalar")
    fail("attn::nn::nadaraya_watson: form '", form, "'; scalar and vector are accepted");
  const auto look = form == "scalar" ? nadaraya_watson_scalar : nadaraya_watson;
  const Attended found = look(given.need("queries"), given.need("keys"), given.need("values"),
                              w, adapt::keep_lengths(given), adapt::kBoth);
  Made made{{{"weights", found.weights}, {"output", found.output}}, {}};
  if (w.defined()) made.parameters.push_back({"w", w});
  return made;
}

Made run_training(const Given& given) {
  KernelRegression model = adapt::loaded(KernelRegression(), given);
  const auto history = model.fit(
      given.need("x_train"), given.need("y_train"),
      {.rate = given.options.number("lr", 0.02), .epochs = given.options.whole("epochs", 100)});
  std::vector<double> loss;
  std::vector<double> width;
  for (const auto& epoch : history) {
    loss.push_back(epoch.loss);
    width.push_back(epoch.width);
  }
  const NoGrad off_the_tape;
  const auto count = static_cast<std::int64_t>(history.size());
  const DType dtype = given.dtype();
  return {{{"loss", Tensor::from(loss, {count}).to(dtype)},
           {"w", Tensor::from(width, {count}).to(dtype)},
           {"y_test", model.predict(given.need("x_test")).output}},
          {}};
}

Mechanism regression() {
  return {
      .name = "nadaraya_watson",
      .family = "regression",
      .title = "Kernel regression: near points count more",
      .formula = "f(q) = sum_j softmax_j(-1/2 |(q - k_j) w|^2) v_j",
      .paper = kPaper,
      .made_of = "score distance, mask lengths, normalise softmax, pool weighted sum",
      .options =
          "form: scalar (plain numbers) or vector\n"
          "width: none (w = 1), scalar or diagonal (feature by feature)",
      .snippet = R"(nn::seed(1);
Tensor x = uniform({50}, 0, 5, nn::random());
Tensor where = uniform({20}, 0, 5, nn::random());
Tensor width = Tensor::full({1}, 2.0);
Tensor y = nn::nadaraya_watson_scalar(where, x, sqrt(x), width).output;)",
      .header = "attn/nn/mechanisms/regression/nadaraya_watson.hpp",
      .run = run_regression,
      .example =
          [](Random& random) {
            Given given = adapt::pooling_example(random, 4, 4);
            given.parameters["w"] = adapt::real(random, {4});
            given.options = {{"form", std::string("vector")},
                             {"width", std::string("diagonal")}};
            return given;
          },
  };
}

Mechanism training() {
  return {
      .name = "nadaraya_watson_training",
      .family = "regression",
      .title = "Learning the width of a kernel by leaving each point out",
      .formula = "loss = sum_i (f_{-i}(x_i) - y_i)^2, w <- w - lr dloss/dw",
      .paper = kPaper,
      .made_of =
          "score distance, mask all but the own point, normalise softmax, pool "
          "weighted sum; gradient descent",
      .options = "lr: the rate of gradient descent\nepochs: its steps",
      .snippet = R"(nn::seed(1);
Tensor x = uniform({50}, 0, 5, nn::random());
nn::KernelRegression curve({.width = 1.0});
auto history = curve.fit(x, sqrt(x), {.rate = 0.02, .epochs = 20});
Attended found = curve.predict(uniform({20}, 0, 5, nn::random()));)",
      .header = "attn/nn/mechanisms/regression/kernel_regression.hpp",
      .run = run_training,
      .example =
          [](Random& random) {
            Given given;
            given.inputs["x_train"] = uniform({7}, 0.0, 5.0, random, DType::f64);
            given.inputs["y_train"] = adapt::real(random, {7});
            given.inputs["x_test"] = uniform({4}, 0.0, 5.0, random, DType::f64);
            given.parameters["w"] = Tensor::full({1}, 1.5, DType::f64);
            given.options = {{"lr", 0.02}, {"epochs", 3.0}};
            return given;
          },
      .constants = {"x_train", "y_train", "x_test", "w"},
      .no_gradient = "it is a whole training, whose steps are gradients already",
  };
}

}  // namespace

std::vector<Mechanism> regression_mechanisms() {
  return {regression(), training()};
}

}  // namespace attn::nn
