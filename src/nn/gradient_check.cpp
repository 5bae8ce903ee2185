#include "attn/nn/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"

namespace attn::nn {
namespace {

/// An example with its leaves, and the gradients that arrive at its outputs.
struct Setup {
  const Mechanism& mechanism;
  MechanismCall call;
  std::map<std::string, Tensor> seeds;  ///< of the differentiable outputs

  bool differentiates(const std::string& name, const Tensor& tensor) const {
    const auto& fixed = mechanism.constants;
    return tensor.dtype() == DType::f64 &&
           std::find(fixed.begin(), fixed.end(), name) == fixed.end();
  }
};

/// sum(outputs * seeds), without a tape.
double loss(const Setup& setup) {
  const NoGrad off_the_tape;
  double total = 0.0;
  for (const auto& [name, output] : setup.mechanism.run(setup.call).outputs) {
    const auto seed = setup.seeds.find(name);
    if (seed == setup.seeds.end()) continue;
    const std::vector<double> values = output.to_vector<double>();
    const std::vector<double> factors = seed->second.to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i])) total += values[i] * factors[i];
  }
  return total;
}

/// The numbers of a leaf, to be changed where they lie.
class Numbers {
 public:
  explicit Numbers(const Tensor& tensor)
      : flat_(tensor.detach().reshape({tensor.numel()})), kept_(flat_.to_vector<double>()) {
    if (!tensor.is_contiguous())
      fail("attn::nn::check_gradients: the example's ", tensor.text(),
           " does not lie in one piece; contiguous() makes it so");
  }

  std::size_t size() const { return kept_.size(); }
  /// Number i becomes what it was, plus `change`.
  void move(std::size_t i, double change) const {
    const auto at = static_cast<std::int64_t>(i);
    flat_.slice(0, at, at + 1).fill(kept_[i] + change);
  }

 private:
  Tensor flat_;
  std::vector<double> kept_;
};

double worst_error(const Setup& setup, const Tensor& tensor, const Tensor& grad, double step) {
  const std::vector<double> tape =
      grad.defined() ? grad.to_vector<double>()
                     : std::vector<double>(static_cast<std::size_t>(tensor.numel()), 0.0);
  double worst = 0.0;
  const Numbers numbers(tensor);
  for (std::size_t i = 0; i < tape.size(); ++i) {
    numbers.move(i, step);
    const double above = loss(setup);
    numbers.move(i, -step);
    const double below = loss(setup);
    numbers.move(i, 0.0);
    const double want = (above - below) / (2.0 * step);
    const double error = std::fabs(tape[i] - want) / (1.0 + std::fabs(want));
    worst =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

Tensor needed(const std::vector<NamedTensor>& tensors, const std::string& name) {
  const Tensor found = find_tensor(tensors, name);
  if (found.defined()) return found;
  fail("attn::nn::check_gradients: no parameter '", name, "' comes back from the mechanism");
}

/// A check that compares nothing must not pass.
void check_compared(const Mechanism& mechanism, const std::vector<GradientCheck>& checks) {
  const bool compared =
      std::any_of(checks.begin(), checks.end(),
                  [](const GradientCheck& check) { return check.numbers > 0; });
  if (compared == mechanism.no_gradient.empty()) return;
  if (compared)
    fail<Error>("attn::nn::check_gradients: ", mechanism.name,
                " says that it has no gradient (", mechanism.no_gradient, "), but ",
                checks.front().name, " has one");
  fail<Error>(
      "attn::nn::check_gradients: ", mechanism.name,
      " left nothing to compare: no output has a gradient, or no input and parameter is "
      "differentiated. Where that is right, Mechanism::no_gradient says why");
}

/// Runs with the tape and leaves the gradients at the leaves.
MechanismResult run_tape(Setup& setup, Random& random, Device device) {
  const MechanismResult result = setup.mechanism.run(setup.call);
  std::vector<Tensor> outputs;
  std::vector<Tensor> seeds;
  for (const auto& [name, output] : result.outputs) {
    if (!output.defined() || output.dtype() != DType::f64 || !output.requires_grad()) continue;
    if (output.device() != device)
      fail<Error>("attn::nn::check_gradients: ", setup.mechanism.name, " computed ", name,
                  " on the ", name_of(output.device()), ", not on the ", name_of(device));
    const Tensor seed = normal(output.shape(), 0.0, 1.0, random, DType::f64, device);
    setup.seeds[name] = seed;
    outputs.push_back(output);
    seeds.push_back(seed);
  }
  if (!outputs.empty()) backward(outputs, seeds);
  return result;
}

}  // namespace

std::vector<GradientCheck> check_gradients(const Mechanism& mechanism,
                                           const GradientCheckOptions& options) {
  if (!mechanism.example)
    fail("attn::nn::check_gradients: ", mechanism.name, " has no example to run");
  Random random(options.seed);
  Setup setup{mechanism, mechanism.example(random), {}};
  for (auto* tensors : {&setup.call.inputs, &setup.call.parameters})
    for (auto& [name, tensor] : *tensors) tensor = tensor.to(options.device);
  for (auto& [name, tensor] : setup.call.inputs)
    if (setup.differentiates(name, tensor)) tensor.set_requires_grad();
  const MechanismResult result = run_tape(setup, random, options.device);

  std::vector<GradientCheck> checks;
  const auto check = [&](const std::string& name, const Tensor& tensor, const Tensor& grad) {
    const double worst = worst_error(setup, tensor, grad, options.step);
    checks.push_back({name, tensor.numel(), worst, worst <= options.tolerance});
  };
  if (!setup.seeds.empty()) {
    for (const auto& [name, tensor] : setup.call.inputs)
      if (tensor.requires_grad()) check("in." + name, tensor, tensor.grad());
    for (const auto& [name, tensor] : setup.call.parameters)
      if (setup.differentiates(name, tensor))
        check("param." + name, tensor, needed(result.parameters, name).grad());
  }
  check_compared(mechanism, checks);
  return checks;
}

}  // namespace attn::nn
