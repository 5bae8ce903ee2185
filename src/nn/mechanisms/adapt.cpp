#include "nn/mechanisms/adapt.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn::adapt {

Keep keep_lengths(const Given& given, const std::string& name) {
  const Tensor lengths = given.in(name);
  return lengths.defined() ? spec::lengths(lengths) : Keep{};
}

Activation activation(const std::string& name) {
  if (name == "identity") return Activation::identity;
  if (name == "relu") return Activation::relu;
  if (name == "tanh") return Activation::tanh;
  if (name == "gelu") return Activation::gelu;
  if (name == "sigmoid") return Activation::sigmoid;
  if (name == "elu") return Activation::elu;
  fail("attn::nn: activation '", name,
       "'; identity, relu, tanh, gelu, sigmoid and elu are accepted");
}

std::int64_t rows(const Given& given, const std::string& parameter) {
  return given.parameter(parameter).size(0);
}
std::int64_t columns(const Given& given, const std::string& parameter) {
  return given.parameter(parameter).size(1);
}

Tensor real(Random& random, const Shape& shape) {
  return normal(shape, 0.0, 1.0, random, DType::f64);
}
Tensor ids(Random& random, const Shape& shape, std::int64_t below) {
  return random_integers(shape, 0, below, random);
}
Tensor lengths(const std::vector<std::int64_t>& values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

Given pooling_example(Random& random, std::int64_t query, std::int64_t key) {
  Given given;
  given.inputs["queries"] = real(random, {2, 3, query});
  given.inputs["keys"] = real(random, {2, 4, key});
  given.inputs["values"] = real(random, {2, 4, 3});
  given.inputs["valid_lens"] =
      Tensor::from(std::vector<std::int64_t>{4, 2, 1, 3, 0, 4}, {2, 3});
  return given;
}

void add_recurrent(Given& given, Random& random, const std::string& prefix, std::int64_t gates,
                   std::int64_t in, std::int64_t hidden, std::int64_t layers, bool both) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (int direction = 0; direction < (both ? 2 : 1); ++direction) {
      const std::string end = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
      const std::int64_t width = layer == 0 ? in : (both ? 2 : 1) * hidden;
      const auto set = [&](const char* name, const Shape& shape) {
        std::string full = prefix;
        full.append(name).append(end);
        given.parameters[full] = real(random, shape) * 0.5;
      };
      set("weight_ih", {gates * hidden, width});
      set("weight_hh", {gates * hidden, hidden});
      set("bias_ih", {gates * hidden});
      set("bias_hh", {gates * hidden});
    }
  }
}

Made weights_and_context(const Attended& attended, std::vector<NamedTensor> parameters) {
  return {{{"weights", attended.weights}, {"context", attended.output}}, std::move(parameters)};
}

}  // namespace attn::nn::adapt
