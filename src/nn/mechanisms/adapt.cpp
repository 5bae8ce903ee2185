#include "nn/mechanisms/adapt.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "nn/padding.hpp"

namespace attn::nn::adapt {
namespace {

/// Of a module's parameters: what passes through several layers stays small.
constexpr double kDeviation = 0.5;

}  // namespace

Mask keep_lengths(const MechanismCall& call) {
  return padding::keys(call.in("valid_lens"));
}

void refuse(const std::string& what, const std::string& word,
            const std::vector<std::string>& accepted) {
  std::string list = accepted.front();
  for (std::size_t i = 1; i < accepted.size(); ++i)
    list += (i + 1 < accepted.size() ? ", " : " and ") + accepted[i];
  fail(what, " '", word, "'; ", list, " are accepted");
}

Activation activation(const MechanismCall& call, const std::string& otherwise) {
  return choice<Activation>("attn::nn: activation", call.options.word("activation", otherwise),
                            {{"identity", Activation::identity},
                             {"relu", Activation::relu},
                             {"tanh", Activation::tanh},
                             {"gelu", Activation::gelu},
                             {"sigmoid", Activation::sigmoid},
                             {"elu", Activation::elu}});
}

std::int64_t rows(const MechanismCall& call, const std::string& parameter) {
  return call.parameter(parameter).size(0);
}
std::int64_t columns(const MechanismCall& call, const std::string& parameter) {
  return call.parameter(parameter).size(1);
}

MechanismResult weights_and(const std::string& name, const Attended& attended,
                            std::vector<NamedTensor> parameters) {
  return {{{"weights", attended.weights}, {name, attended.output}}, std::move(parameters)};
}

Part::Part(std::string key, const Shape& shape)
    : Part(std::move(key),
           [shape](Random& random) { return normal(shape, 0.0, 1.0, random, DType::f64); }) {}
Part::Part(std::string key, Tensor tensor)
    : Part(std::move(key), [tensor](Random&) { return tensor.clone(); }) {}
Part::Part(std::string key, std::function<Tensor(Random&)> numbers)
    : name(std::move(key)), draw(std::move(numbers)) {}

std::function<Tensor(Random&)> ids(const Shape& shape, std::int64_t below) {
  return [=](Random& random) { return random_integers(shape, 0, below, random); };
}
std::function<Tensor(Random&)> between(double low, double high, const Shape& shape) {
  return [=](Random& random) { return uniform(shape, low, high, random, DType::f64); };
}
Tensor integers(const std::vector<std::int64_t>& values, const Shape& shape) {
  return Tensor::from(values, shape);
}
Tensor lengths(const std::vector<std::int64_t>& values) {
  return integers(values, {static_cast<std::int64_t>(values.size())});
}
Tensor flags(const Shape& shape, const std::vector<std::int64_t>& positions) {
  const Tensor mask = Tensor::zeros(shape, DType::boolean);
  for (const std::int64_t place : positions) mask.mutable_data<bool>()[place] = true;
  return mask;
}

Example& Example::inputs(std::initializer_list<Part> parts) {
  inputs_.insert(inputs_.end(), parts);
  return *this;
}

Example& Example::parameters(std::initializer_list<Part> parts) {
  parameters_.insert(parameters_.end(), parts);
  return *this;
}

Example& Example::options(Options options) {
  options_ = std::move(options);
  return *this;
}

MechanismCall Example::operator()(Random& random) const {
  MechanismCall call{{}, {}, options_};
  for (const Part& part : inputs_) call.inputs[part.name] = part.draw(random);
  for (const Part& part : parameters_) call.parameters[part.name] = part.draw(random);
  for (const auto& parameters : modules_)
    for (const auto& [name, tensor] : parameters())
      call.parameters[name] = normal(tensor.shape(), 0.0, kDeviation, random, DType::f64);
  return call;
}

Example pooling_example(std::int64_t query, std::int64_t key) {
  return Example().inputs({{"queries", {2, 3, query}},
                           {"keys", {2, 4, key}},
                           {"values", {2, 4, 3}},
                           {"valid_lens", integers({4, 2, 1, 3, 0, 4}, {2, 3})}});
}

}  // namespace attn::nn::adapt
