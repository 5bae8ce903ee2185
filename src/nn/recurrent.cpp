#include "attn/nn/recurrent.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"

namespace attn::nn {
namespace {

/// The weights of all layers and directions, each registered by `add`.
std::vector<RecurrentWeights> weights_for(
    const RecurrentOptions& options, std::int64_t gates,
    const std::function<Tensor(const std::string&, Tensor)>& add) {
  const std::int64_t directions = options.direction == Direction::both ? 2 : 1;
  const std::int64_t rows = gates * options.hidden;
  std::vector<RecurrentWeights> all;
  for (std::int64_t layer = 0; layer < options.layers; ++layer) {
    const std::int64_t in = layer == 0 ? options.in : directions * options.hidden;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::string end = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
      RecurrentWeights one;
      one.weight_ih = add("weight_ih" + end, fan_in_uniform({rows, in}, options.hidden));
      one.weight_hh =
          add("weight_hh" + end, fan_in_uniform({rows, options.hidden}, options.hidden));
      if (options.bias == Bias::learnt) {
        one.bias_ih = add("bias_ih" + end, fan_in_uniform({rows}, options.hidden));
        one.bias_hh = add("bias_hh" + end, fan_in_uniform({rows}, options.hidden));
      }
      all.push_back(one);
    }
  }
  return all;
}

}  // namespace

Gru::Gru(const RecurrentOptions& options)
    : direction_(options.direction),
      weights_(weights_for(options, 3, [this](const std::string& name, const Tensor& initial) {
        return add(name, initial);
      })) {}

GruResult Gru::operator()(const Tensor& x, const Tensor& state, const Tensor& lengths) const {
  return gru(x, weights_, direction_, state, lengths);
}

Lstm::Lstm(const RecurrentOptions& options)
    : direction_(options.direction),
      weights_(weights_for(options, 4, [this](const std::string& name, const Tensor& initial) {
        return add(name, initial);
      })) {}

LstmResult Lstm::operator()(const Tensor& x, const Tensor& state, const Tensor& cell,
                            const Tensor& lengths) const {
  return lstm(x, weights_, direction_, state, cell, lengths);
}

}  // namespace attn::nn
