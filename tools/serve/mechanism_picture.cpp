#include "tools/serve/mechanism_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/registry.hpp"
#include "attn/tasks/answer_json.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::serve {
namespace {

/// Any number; every example has its numbers from it.
constexpr std::uint64_t kSeed = 7;
/// Sides of a picture, which is small.
constexpr std::int64_t kMostRows = 24;
constexpr std::int64_t kMostColumns = 32;

bool is_real(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::bf16 ||
         dtype == DType::f16;
}

/// Shares of something: none is below 0, and rows sum to 1, or to 0 where nobody looks.
bool are_weights(const std::string& name, const Tensor& x) {
  const bool called = name.find("weights") != std::string::npos || name == "alpha" ||
                      name == "p" || name == "w";
  if (!called || x.rank() < 1 || !is_real(x.dtype())) return false;
  for (const double share : x.to(DType::f64).to_vector<double>())
    if (!(share >= 0.0 && share <= 1.0 + 1e-5)) return false;
  return true;
}

/// The last two axes at the first entries of the others, no larger than a picture.
Tensor matrix_of(Tensor x) {
  while (x.rank() > 2) x = x.select(0, 0);
  while (x.rank() < 2) x = x.unsqueeze(0);
  x = x.slice(0, 0, std::min(x.size(0), kMostRows));
  return x.slice(1, 0, std::min(x.size(1), kMostColumns));
}

}  // namespace

nlohmann::json mechanism_picture(const nn::Mechanism& mechanism) {
  if (!mechanism.example) return nullptr;
  Random random(kSeed);
  // On the tape: a mechanism may learn while it runs.
  const nn::MechanismResult result = mechanism.run(mechanism.example(random));
  const nn::NamedTensor* chosen = nullptr;
  for (const nn::NamedTensor& one : result.outputs)
    if (are_weights(one.name, one.tensor)) {
      chosen = &one;
      break;
    }
  const bool weights = chosen != nullptr;
  // Else what it gives as its output, or whatever is first.
  for (const char* name : {"output", "out", ""})
    for (const nn::NamedTensor& one : result.outputs)
      if (chosen == nullptr && is_real(one.tensor.dtype()) &&
          (*name == '\0' || one.name == name))
        chosen = &one;
  if (chosen == nullptr) chosen = &result.outputs.front();

  const Tensor matrix = matrix_of(chosen->tensor).to(DType::f64);
  std::vector<double> numbers = matrix.to_vector<double>();
  auto shape = nlohmann::json::array();
  for (int axis = 0; axis < chosen->tensor.rank(); ++axis)
    shape.push_back(chosen->tensor.size(axis));
  return {{"of", chosen->name},
          {"kind", weights ? "weights" : "output"},
          {"shape", shape},
          {"numbers", tasks::rows_json(std::span<const double>(numbers),
                                       static_cast<std::size_t>(matrix.size(1)))}};
}

}  // namespace attn::serve
