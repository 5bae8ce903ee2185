/// What the lists of mechanisms share: reading cases, and making small ones.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn::adapt {

/// The mask of the lengths `name`, or everything where they were not given.
Keep keep_lengths(const Given& given, const std::string& name = "valid_lens");

/// "relu", "tanh", "gelu", "sigmoid", "elu" or "identity".
Activation activation(const std::string& name);

/// What most cases compare: the output and the weights.
inline const Want kBoth = Want::output | Want::weights;

/// The module with the case's parameters.
template <class M>
M loaded(M module, const Given& given) {
  give_parameters(module, given);
  return module;
}

/// The sizes of a parameter: out = rows(given, "W_q.weight"), in = columns(...).
std::int64_t rows(const Given& given, const std::string& parameter);
std::int64_t columns(const Given& given, const std::string& parameter);

// For examples: numbers of f64.
Tensor real(Random& random, const Shape& shape);
Tensor ids(Random& random, const Shape& shape, std::int64_t below);
Tensor lengths(const std::vector<std::int64_t>& values);

/// "queries" [2, 3, query], "keys" [2, 4, key], "values" [2, 4, 3] and "valid_lens" with a
/// short row and, per query, an empty one.
Given pooling_example(Random& random, std::int64_t query, std::int64_t key);

/// The GRU or LSTM parameters under `prefix` ("rnn."), of `layers` layers.
void add_recurrent(Given& given, Random& random, const std::string& prefix, std::int64_t gates,
                   std::int64_t in, std::int64_t hidden, std::int64_t layers = 1,
                   bool both = false);

/// {"weights", ...} and {"context", ...} with the parameters of a module.
Made weights_and_context(const Attended& attended, std::vector<NamedTensor> parameters = {});

}  // namespace attn::nn::adapt
