/// The registry: every mechanism with what a learner asks (formula, paper, parts, options, a
/// snippet) and one way to run it on named tensors, which conformance and gradient checks use.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/random.hpp"

namespace attn::nn {

/// Options by name, as a case file or a user gives them.
class Options {
 public:
  using Value = std::variant<bool, double, std::string, std::vector<std::int64_t>>;

  Options() = default;
  Options(std::initializer_list<std::pair<const std::string, Value>> values)
      : values_(values) {}

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.contains(name); }
  const std::map<std::string, Value>& values() const { return values_; }

  // The value, or what is used without it. Another type is an InvalidArgument.
  bool flag(const std::string& name, bool otherwise) const;
  double number(const std::string& name, double otherwise) const;
  std::int64_t whole(const std::string& name, std::int64_t otherwise) const;
  std::string word(const std::string& name, const std::string& otherwise) const;
  std::vector<std::int64_t> list(const std::string& name) const;

 private:
  std::map<std::string, Value> values_;
};

/// What a mechanism is called with: named inputs and parameters, and options.
struct MechanismCall {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, Tensor> parameters;
  Options options;

  /// Not defined where the call has none of that name.
  Tensor in(const std::string& name) const;
  /// Throws InvalidArgument where the call has none of that name.
  Tensor need(const std::string& name) const;
  Tensor parameter(const std::string& name) const;
  bool has_parameter(const std::string& name) const { return parameters.contains(name); }
  /// Of the real inputs and parameters.
  DType dtype() const;
  Device device() const;
};

/// What it gives back: named outputs, and the parameters that were used, for their gradients.
struct MechanismResult {
  std::vector<NamedTensor> outputs;
  std::vector<NamedTensor> parameters;
};

struct Mechanism {
  std::string name;       ///< "bahdanau_decoder"
  std::string family{};   ///< the folder under include/attn/nn/mechanisms, or "position"
  std::string title;      ///< one line
  std::string formula;    ///< plain text
  std::string paper;      ///< authors, year, arXiv id
  std::string made_of;    ///< which score, mask, normaliser and pool; or why it is outside
  std::string options{};  ///< "name: meaning" a line; empty without any
  std::string snippet;    ///< C++ that compiles inside a function after `using namespace attn`
  std::string header{};   ///< "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"

  std::function<MechanismResult(const MechanismCall&)> run;
  /// A small case with random numbers, lengths and an empty row, for gradient checks. Every
  /// real input and parameter is differentiated except those named in `constants`.
  std::function<MechanismCall(Random&)> example;
  std::vector<std::string> constants{};
  /// Why no gradient can be compared, such as "a search has none"; empty where some can.
  std::string no_gradient{};
};

/// All that are known, sorted by name.
std::vector<const Mechanism*> mechanisms();
/// The snippet as a whole program, which compiles as it stands.
std::string program_of(const Mechanism& mechanism);
/// Null when there is none of that name.
const Mechanism* find_mechanism(std::string_view name);
/// Adds one; a user's own appears beside the library's. Throws if the name is taken.
void register_mechanism(Mechanism mechanism);

/// Gives a module the parameters of a case: every name must be in both, with the same shape,
/// or an InvalidArgument lists what is not. Converts the module to the case's element type and
/// moves it to the case's device.
void give_parameters(const Module& module, const MechanismCall& call);

}  // namespace attn::nn
