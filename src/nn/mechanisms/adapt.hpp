/// The tables of mechanisms, one a family, and what they share: reading cases, and describing
/// small ones.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"  // IWYU pragma: export
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn::adapt {

/// The mask of the lengths "valid_lens", or everything where they were not given.
Mask keep_lengths(const MechanismCall& call);

/// Throws: "`what` 'word'; a, b and c are accepted".
[[noreturn]] void refuse(const std::string& what, const std::string& word,
                         const std::vector<std::string>& accepted);

/// The value that `word` names; any other word is refused.
template <class T>
T choice(const std::string& what, const std::string& word,
         std::initializer_list<std::pair<const char*, T>> values) {
  std::vector<std::string> accepted;
  for (const auto& [name, value] : values) {
    if (word == name) return value;
    accepted.emplace_back(name);
  }
  refuse(what, word, accepted);
}

/// What the option "activation" names.
Activation activation(const MechanismCall& call, const std::string& otherwise);

/// What most cases compare: the output and the weights.
inline const Want kBoth = Want::output | Want::weights;

/// The module with the case's parameters.
template <class M>
M loaded(M module, const MechanismCall& call) {
  give_parameters(module, call);
  return module;
}

/// What a module of queries, keys and values gives for those of a case.
template <class M>
auto attend_case(const M& module, const MechanismCall& call) {
  return module.forward(call.need("queries"), call.need("keys"), call.need("values"),
                        keep_lengths(call), kBoth);
}

/// The sizes of a parameter: out = rows(call, "W_q.weight"), in = columns(...).
std::int64_t rows(const MechanismCall& call, const std::string& parameter);
std::int64_t columns(const MechanismCall& call, const std::string& parameter);

/// {"weights", ...} and {`name`, the output} with the parameters of a module.
MechanismResult weights_and(const std::string& name, const Attended& attended,
                            std::vector<NamedTensor> parameters = {});

/// Such a module, with the case's parameters, on a case.
template <class M>
MechanismResult run_module(const std::string& name, const M& module,
                           const MechanismCall& call) {
  give_parameters(module, call);
  return weights_and(name, attend_case(module, call), module.named_parameters());
}

/// An input or parameter of an example.
struct Part {
  /// Normal numbers of f64.
  Part(std::string key, const Shape& shape);
  Part(std::string key, Tensor tensor);
  Part(std::string key, std::function<Tensor(Random&)> numbers);

  std::string name;
  std::function<Tensor(Random&)> draw;
};

// What examples have beside normal numbers.
std::function<Tensor(Random&)> ids(const Shape& shape, std::int64_t below);
std::function<Tensor(Random&)> between(double low, double high, const Shape& shape);
Tensor integers(const std::vector<std::int64_t>& values, const Shape& shape);
Tensor lengths(const std::vector<std::int64_t>& values);
/// Boolean, true at the given flat places.
Tensor flags(const Shape& shape, const std::vector<std::int64_t>& positions);

/// A small case, described: called, it draws the numbers.
class Example {
 public:
  Example& inputs(std::initializer_list<Part> parts);
  Example& parameters(std::initializer_list<Part> parts);
  /// Those of a module of these options.
  template <class M, class O>
  Example& parameters_of(const O& options) {
    modules_.push_back([options] { return M(options).named_parameters(); });
    return *this;
  }
  Example& options(Options options);

  MechanismCall operator()(Random& random) const;

 private:
  std::vector<Part> inputs_;
  std::vector<Part> parameters_;
  std::vector<std::function<std::vector<NamedTensor>()>> modules_;
  Options options_;
};

/// "queries" [2, 3, query], "keys" [2, 4, key], "values" [2, 4, 3] and "valid_lens" with a
/// short row and, per query, an empty one.
Example pooling_example(std::int64_t query, std::int64_t key);

// Each is defined in src/nn/mechanisms/<family>/register.cpp.
std::vector<Mechanism> pooling_mechanisms();
std::vector<Mechanism> regression_mechanisms();
std::vector<Mechanism> score_mechanisms();
std::vector<Mechanism> heads_mechanisms();
std::vector<Mechanism> seq2seq_mechanisms();
std::vector<Mechanism> local_mechanisms();
std::vector<Mechanism> hard_mechanisms();
std::vector<Mechanism> glimpse_mechanisms();
std::vector<Mechanism> position_mechanisms();
std::vector<Mechanism> pointer_mechanisms();
std::vector<Mechanism> vision_mechanisms();
std::vector<Mechanism> composed_mechanisms();
std::vector<Mechanism> applied_mechanisms();
std::vector<Mechanism> control_mechanisms();

struct Family {
  const char* name;
  std::vector<Mechanism> (*table)();
};
inline constexpr Family kFamilies[] = {
    {"pooling", pooling_mechanisms},   {"regression", regression_mechanisms},
    {"score", score_mechanisms},       {"heads", heads_mechanisms},
    {"seq2seq", seq2seq_mechanisms},   {"local", local_mechanisms},
    {"hard", hard_mechanisms},         {"glimpse", glimpse_mechanisms},
    {"position", position_mechanisms}, {"pointer", pointer_mechanisms},
    {"vision", vision_mechanisms},     {"composed", composed_mechanisms},
    {"applied", applied_mechanisms},   {"control", control_mechanisms}};

}  // namespace attn::nn::adapt
