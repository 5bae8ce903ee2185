#include "attn/nn/registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/mechanisms/adapt.hpp"
#include "tensor/op.hpp"

namespace attn::nn {
namespace {

template <class T>
const T* find_as(const std::map<std::string, Options::Value>& values, const std::string& name,
                 const char* wanted) {
  const auto place = values.find(name);
  if (place == values.end()) return nullptr;
  const T* value = std::get_if<T>(&place->second);
  if (value == nullptr)
    fail("attn::nn::Options: option '", name, "' is of another type; ", wanted, " is accepted");
  return value;
}

using Registry = std::map<std::string, Mechanism, std::less<>>;

/// Where a mechanism's header lies unless its entry says another.
std::string header_of(const Mechanism& mechanism) {
  const std::string folder = mechanism.family == "position" ? "" : "mechanisms/";
  return "attn/nn/" + folder + mechanism.family + "/" + mechanism.name + ".hpp";
}

Registry& registry() {
  static Registry all = [] {
    Registry known;
    for (const auto& [family, table] : adapt::kFamilies) {
      for (Mechanism& mechanism : table()) {
        mechanism.family = family;
        if (mechanism.header.empty()) mechanism.header = header_of(mechanism);
        known.emplace(mechanism.name, std::move(mechanism));
      }
    }
    return known;
  }();
  return all;
}

}  // namespace

bool Options::flag(const std::string& name, bool otherwise) const {
  const bool* value = find_as<bool>(values_, name, "true or false");
  return value != nullptr ? *value : otherwise;
}
double Options::number(const std::string& name, double otherwise) const {
  const double* value = find_as<double>(values_, name, "a number");
  return value != nullptr ? *value : otherwise;
}
std::int64_t Options::whole(const std::string& name, std::int64_t otherwise) const {
  const double* value = find_as<double>(values_, name, "a whole number");
  if (value == nullptr) return otherwise;
  if (*value != std::floor(*value) || std::fabs(*value) > 0x1p53)
    fail("attn::nn::Options: option '", name, "' is ", *value, "; a whole number is accepted");
  return static_cast<std::int64_t>(*value);
}
std::string Options::word(const std::string& name, const std::string& otherwise) const {
  const std::string* value = find_as<std::string>(values_, name, "a word");
  return value != nullptr ? *value : otherwise;
}
std::vector<std::int64_t> Options::list(const std::string& name) const {
  const auto* value = find_as<std::vector<std::int64_t>>(values_, name, "a list");
  return value != nullptr ? *value : std::vector<std::int64_t>{};
}

Tensor MechanismCall::in(const std::string& name) const {
  const auto place = inputs.find(name);
  return place == inputs.end() ? Tensor() : place->second;
}
Tensor MechanismCall::need(const std::string& name) const {
  const Tensor tensor = in(name);
  if (!tensor.defined()) fail("attn::nn: the input '", name, "' is missing");
  return tensor;
}
Tensor MechanismCall::parameter(const std::string& name) const {
  const auto place = parameters.find(name);
  if (place == parameters.end()) fail("attn::nn: the parameter '", name, "' is missing");
  return place->second;
}
DType MechanismCall::dtype() const {
  for (const auto* tensors : {&parameters, &inputs})
    for (const auto& [name, tensor] : *tensors)
      if (op::is_real(tensor.dtype())) return tensor.dtype();
  return DType::f32;
}

Device MechanismCall::device() const {
  for (const auto* tensors : {&parameters, &inputs})
    for (const auto& [name, tensor] : *tensors)
      if (op::is_real(tensor.dtype())) return tensor.device();
  return Device::cpu;
}

std::vector<const Mechanism*> mechanisms() {
  std::vector<const Mechanism*> all;
  for (const auto& [name, mechanism] : registry()) all.push_back(&mechanism);
  return all;
}

std::string program_of(const Mechanism& mechanism) {
  std::string program = "#include <attn/attn.hpp>\n#include <" + mechanism.header +
                        ">\n\nusing namespace attn;\n\nint main() {\n  ";
  for (const char letter : mechanism.snippet) {
    program += letter;
    if (letter == '\n') program += "  ";
  }
  return program + "\n}";
}

const Mechanism* find_mechanism(std::string_view name) {
  const auto place = registry().find(name);
  return place == registry().end() ? nullptr : &place->second;
}

void register_mechanism(Mechanism mechanism) {
  if (find_mechanism(mechanism.name) != nullptr)
    fail("attn::nn::register_mechanism: '", mechanism.name, "' is known already");
  registry().emplace(mechanism.name, std::move(mechanism));
}

void give_parameters(const Module& module, const MechanismCall& call) {
  const NoGrad off_the_tape;
  module.to(call.dtype());
  module.to(call.device());
  std::string wrong;
  std::vector<std::string> used;
  for (auto& [name, tensor] : module.named_parameters()) {
    const auto place = call.parameters.find(name);
    if (place == call.parameters.end()) {
      wrong += "; missing " + name;
    } else if (!(place->second.shape() == tensor.shape())) {
      wrong += "; " + name + " is " + place->second.text() + ", not " + tensor.text();
    } else {
      tensor.copy_from(place->second);
    }
    used.push_back(name);
  }
  for (const auto& [name, tensor] : call.parameters)
    if (std::find(used.begin(), used.end(), name) == used.end()) wrong += "; unknown " + name;
  if (!wrong.empty()) fail("attn::nn::give_parameters", wrong);
}

}  // namespace attn::nn
