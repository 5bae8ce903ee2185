#include "tools/conformance/operators.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/target.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/case.hpp"

namespace attn::conformance {
namespace {

struct Operator {
  std::string_view name;
  std::string_view domain;
  std::int64_t since;  ///< version of the domain that brought it
  Results (*run)(const Call& call);
};

constexpr std::array<Operator, 5> kOperators{{
    {"Attention", "ai.onnx", 23, &attention},
    {"FlexAttention", "ai.onnx.preview", 1, &flex_attention},
    {"LinearAttention", "ai.onnx", 27, &linear_attention},
    {"RotaryEmbedding", "ai.onnx", 23, &rotary_embedding},
    {"TensorScatter", "ai.onnx", 24, &tensor_scatter},
}};

}  // namespace

std::string Path::name() const {
  if (kind == Kind::reference) return "reference";
  if (kind == Kind::gpu) return "gpu";
  if (kind == Kind::gpu_decode) return "gpu decode";
  if (kind == Kind::gpu_rows) return "gpu rows";
  return "cpu " + std::string(name_of(context.target.value_or(cpu::best_target())));
}

const nlohmann::json* Attributes::find(const std::string& name) {
  known_.insert(name);
  const auto at = values_.find(name);
  return at == values_.end() ? nullptr : &*at;
}

std::optional<std::int64_t> Attributes::whole(const std::string& name) {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return files::to_int(*value, "attribute " + name);
}

std::optional<double> Attributes::number(const std::string& name) {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return number_of(*value, "attribute " + name);
}

std::optional<std::string> Attributes::text(const std::string& name) {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return files::to_text(*value, "attribute " + name);
}

const nlohmann::json* Attributes::any(const std::string& name) {
  return find(name);
}

void Attributes::check_all_known() const {
  for (const auto& [name, value] : values_.items())
    if (known_.find(name) == known_.end())
      fail<FileError>("unknown attribute ", files::in_quotes(name));
}

const Array* Call::optional_input(std::size_t i) const {
  return i < inputs.size() ? inputs[i] : nullptr;
}

const Array& Call::input(std::size_t i, const char* name) const {
  const Array* found = optional_input(i);
  if (found == nullptr) fail<FileError>("input ", i, " (", name, ") is missing");
  return *found;
}

bool Call::wants_output(std::size_t i) const {
  return i < node.outputs.size() && !node.outputs[i].empty();
}

void Call::check_counts(std::size_t max_inputs, std::size_t max_outputs) const {
  if (inputs.size() > max_inputs)
    fail<FileError>(inputs.size(), " inputs; at most ", max_inputs, " are known");
  if (node.outputs.size() > max_outputs)
    fail<FileError>(node.outputs.size(), " outputs; at most ", max_outputs, " are known");
}

Results run_node(const Call& call, const Case& of) {
  const std::string& name = call.node.operation;
  for (const Operator& op : kOperators) {
    if (op.name != name) continue;
    const auto version = of.opset.find(std::string(op.domain));
    if (version == of.opset.end()) fail<FileError>(name, ": the opset has no ", op.domain);
    if (version->second < op.since)
      fail<FileError>(name, " is not in version ", version->second, " of ", op.domain,
                      "; it came with ", op.since);
    Call versioned{call.node, call.inputs, version->second, call.path};
    return op.run(versioned);
  }
  fail<FileError>("unknown operator ", files::in_quotes(name));
}

DType compute_dtype(const Path& path, std::initializer_list<DType> storage) {
  std::optional<DType> common;
  bool mixed = false;
  bool wide = false;
  for (const DType dtype : storage) {
    if (!is_float(dtype))
      fail<FileError>(name_of(dtype), " elements; accepted: f64, f32, bf16, f16");
    mixed = mixed || (common && *common != dtype);
    wide = wide || dtype == DType::f64;
    common = dtype;
  }
  if (mixed) common = wide ? DType::f64 : DType::f32;
  if (common == DType::f64 && path.kind == Path::Kind::cpu) return DType::f32;
  return common.value_or(DType::f32);
}

std::array<std::int64_t, 4> shape4_of(const Array& array, std::optional<std::int64_t> heads,
                                      const std::string& name) {
  const Shape& shape = array.shape;
  if (shape.size() == 4) return {shape[0], shape[1], shape[2], shape[3]};
  if (shape.size() != 3) fail<FileError>(name, " has rank ", shape.size(), "; expected 3 or 4");
  if (!heads) fail<FileError>(name, " has rank 3, so the number of heads must be given");
  if (*heads < 1 || shape[2] % *heads != 0)
    fail<FileError>(name, " has ", shape[2], " channels, which are not ", *heads, " heads");
  return {shape[0], *heads, shape[1], shape[2] / *heads};
}

}  // namespace attn::conformance
