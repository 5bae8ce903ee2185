#include "tools/conformance/mechanism.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/case.hpp"
#include "tools/conformance/compare.hpp"
#include "tools/conformance/tolerance.hpp"

namespace attn::conformance {
namespace {

using nlohmann::json;

/// Relative to 1 + |expected|: MECHANISMS' own limits.
Tolerance tolerance_in(DType dtype) {
  const double most = dtype == DType::f64 ? 1e-6 : 5e-5;
  return {most, most};
}

nn::Options::Value option_of(const json& value, const std::string& where) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return files::to_double(value, where);
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array())
    fail<FileError>(where, ": expected true, false, a number, a word or a list");
  std::vector<std::int64_t> list;
  for (const json& entry : value) list.push_back(files::to_int(entry, where));
  return list;
}

/// What a case is computed in and on.
struct RunKind {
  DType dtype;
  Device device;
};

/// A tensor of the file; real numbers in the type of the kind.
Tensor tensor_of(const files::ArrayView& array, const RunKind& kind) {
  const Tensor tensor = from_array(array);
  return (is_float(array.dtype) ? tensor.to(kind.dtype) : tensor).to(kind.device);
}

Array array_of(const Tensor& tensor) {
  const Tensor packed = tensor.detach().to(Device::cpu).contiguous();
  Array array = make_array(packed.dtype(), Shape(packed.shape().begin(), packed.shape().end()));
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), packed.raw(), array.bytes.size());
  return array;
}

/// The part of a name behind a prefix.
std::optional<std::string> behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

nn::MechanismCall given_of(const files::Safetensors& file, const json& what,
                           const RunKind& kind) {
  nn::MechanismCall call;
  for (const files::ArrayView& array : file.tensors()) {
    if (const auto name = behind(array.name, "in.")) {
      Tensor tensor = tensor_of(array, kind);
      if (file.find("grad.in." + *name) != nullptr) tensor.set_requires_grad();
      call.inputs[*name] = tensor;
    } else if (const auto parameter = behind(array.name, "param.")) {
      call.parameters[*parameter] = tensor_of(array, kind);
    }
  }
  const json& options = files::member(what, "options", "case");
  if (!options.is_object()) fail<FileError>("case: options: expected an object");
  for (const auto& [name, value] : options.items())
    if (!value.is_null())  // an option that is not given
      call.options.set(name, option_of(value, "case: option " + files::printable(name)));
  return call;
}

/// Keeps the worst of what was compared.
class Comparison {
 public:
  Comparison(const files::Safetensors& file, DType dtype)
      : file_(file), kind_{dtype, Device::cpu} {}

  /// `got` against the array of that name in the file.
  void compare_with(const std::string& name, const Tensor& got) {
    const Tensor want = tensor_of(file_.at(name), kind_);
    auto difference = compare(name, array_of(got), array_of(want), tolerance_in(kind_.dtype));
    if (difference && (!worst_ || difference->excess > worst_->excess))
      worst_ = std::move(difference);
  }
  /// A gradient; none that arrived is one of zeros.
  void compare_gradient(const std::string& name, const Tensor& of) {
    if (!of.defined()) fail<FileError>("nothing has the gradient ", files::in_quotes(name));
    compare_with(name, of.grad().defined() ? of.grad() : Tensor::zeros(of.shape(), of.dtype()));
  }
  std::optional<Difference> worst() const { return worst_; }

 private:
  const files::Safetensors& file_;
  RunKind kind_;
  std::optional<Difference> worst_;
};

/// Sends the seeds of the file back from the outputs.
void run_backward(const files::Safetensors& file, const nn::MechanismResult& result,
                  const RunKind& kind) {
  std::vector<Tensor> outputs;
  std::vector<Tensor> seeds;
  for (const files::ArrayView& array : file.tensors()) {
    const auto name = behind(array.name, "seed.");
    if (!name) continue;
    const Tensor output = nn::find_tensor(result.outputs, *name);
    if (!output.defined())
      fail<FileError>("the mechanism gives no output ", files::in_quotes(*name));
    if (!output.requires_grad()) continue;
    // What only looks up a constant may stay on the CPU; what has a gradient was computed.
    if (output.device() != kind.device)
      fail<FileError>("the output ", files::in_quotes(*name), " was computed on the ",
                      name_of(output.device()));
    outputs.push_back(output);
    seeds.push_back(tensor_of(array, kind));
  }
  if (!outputs.empty()) backward(outputs, seeds);
}

json text_of(const files::Safetensors& file) {
  const auto found = file.metadata().find("case");
  if (found == file.metadata().end())
    fail<FileError>("the file has no \"case\" in its metadata");
  return files::parse_json(quote_non_finite(found->second), "case");
}

}  // namespace

bool is_mechanism(const files::Safetensors& file) {
  const json what = text_of(file);
  return what.is_object() && what.contains("mechanism");
}

std::optional<Difference> check_mechanism(const files::Safetensors& file, DType dtype,
                                          Device device) {
  const json what = text_of(file);
  const RunKind kind{dtype, device};
  const std::string name = files::to_text(files::member(what, "mechanism", "case"), "case");
  const nn::Mechanism* mechanism = nn::find_mechanism(name);
  if (mechanism == nullptr)
    fail<FileError>("the mechanism ", files::in_quotes(name), " is not known");
  const nn::MechanismCall call = given_of(file, what, kind);
  const nn::MechanismResult result = mechanism->run(call);

  Comparison comparison(file, dtype);
  run_backward(file, result, kind);
  bool compared = false;
  for (const files::ArrayView& array : file.tensors()) {
    if (const auto output = behind(array.name, "out.")) {
      const Tensor got = nn::find_tensor(result.outputs, *output);
      if (!got.defined())
        fail<FileError>("the mechanism gives no output ", files::in_quotes(*output));
      comparison.compare_with(array.name, got);
      compared = true;
    } else if (const auto input = behind(array.name, "grad.in.")) {
      comparison.compare_gradient(array.name, call.in(*input));
    } else if (const auto parameter = behind(array.name, "grad.param.")) {
      comparison.compare_gradient(array.name, nn::find_tensor(result.parameters, *parameter));
    }
  }
  if (!compared) fail<FileError>("the file has no outputs, so there is nothing to check");
  return comparison.worst();
}

}  // namespace attn::conformance
