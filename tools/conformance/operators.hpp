/// Operators: how a node of a case becomes calls of the library. One file an operator.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/recipe.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/case.hpp"

namespace attn::conformance {

/// Who computes.
struct Path {
  /// On the GPU attention has three kinds of kernels: fused, fused for few queries, by rows.
  /// A call that one of the fused does not take goes by rows; other operators have one kernel.
  enum class Kind { cpu, reference, gpu, gpu_decode, gpu_rows };
  Kind kind = Kind::cpu;
  cpu::Context context;

  bool is_gpu() const { return kind != Kind::cpu && kind != Kind::reference; }
  /// "cpu avx2", "reference", "gpu", "gpu decode", "gpu rows".
  std::string name() const;
};

/// The attributes of a node. Each is asked for by name; one that nobody asked for is unknown.
class Attributes {
 public:
  explicit Attributes(const nlohmann::json& values) : values_(values) {}

  std::optional<std::int64_t> whole(const std::string& name);
  std::optional<double> number(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  /// Null if absent.
  const nlohmann::json* any(const std::string& name);
  /// FileError if an attribute was not asked for.
  void check_all_known() const;

 private:
  const nlohmann::json* find(const std::string& name);

  const nlohmann::json& values_;
  std::set<std::string> known_;
};

/// A node with its inputs, about to run.
struct Call {
  const Node& node;
  std::vector<const Array*> inputs;  ///< null where absent
  std::int64_t opset = 0;            ///< version of the node's domain
  const Path& path;

  /// Input i, or null.
  const Array* optional_input(std::size_t i) const;
  /// Input i; FileError if it is absent.
  const Array& input(std::size_t i, const char* name) const;
  bool wants_output(std::size_t i) const;
  /// FileError beyond these counts.
  void check_counts(std::size_t max_inputs, std::size_t max_outputs) const;
};

/// The outputs of a node in order; those that nobody wants may be empty.
using Results = std::vector<Array>;

Results attention(const Call& call);
Results flex_attention(const Call& call);
Results linear_attention(const Call& call);
Results rotary_embedding(const Call& call);
Results tensor_scatter(const Call& call);

/// Finds the operator and its version and runs it.
Results run_node(const Call& call, const Case& of);

/// What a path computes in: the storage type itself; the CPU kernels have no f64 and take f32,
/// and mixed types are widened.
DType compute_dtype(const Path& path, std::initializer_list<DType> storage);

/// An array [batch, heads, rows, channels], or [batch, rows, heads * channels], as a view of
/// rank 4; `shape4` has its extents.
std::array<std::int64_t, 4> shape4_of(const Array& array, std::optional<std::int64_t> heads,
                                      const std::string& name);
template <class T>
View<T, 4> view4(T* data, const std::array<std::int64_t, 4>& shape, std::size_t rank) {
  if (rank == 4) return {data, shape, packed_strides(shape)};
  const auto& [batch, heads, rows, channels] = shape;
  return {data, shape, {rows * heads * channels, channels, heads * channels, 1}};
}

/// The problem of a softmax attention, in one element type.
struct AttentionProblem {
  Array q, k, v;  ///< of the type that is computed in
  std::array<std::int64_t, 4> q_shape{}, k_shape{}, v_shape{};
  std::size_t q_rank = 4;  ///< of q and the output; k and v are always of rank 4
};

/// FileError unless the shapes fit each other and the work is small enough.
void check_problem(const AttentionProblem& problem);

/// The output in the type that is computed in, of the rank of q.
Array run_forward(const Path& path, const AttentionProblem& problem, const Recipe& recipe);

/// Scores after `modifiers` stages, masked or not; all weights if `modifiers` is negative.
Array run_scores(const Path& path, const AttentionProblem& problem, const Recipe& recipe,
                 int modifiers, bool masked);

}  // namespace attn::conformance
