// ONNX FlexAttention, version 1 of ai.onnx.preview: softmax attention with graphs that change
// the scores and the weights.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/recipe.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/modifier_graph.hpp"
#include "tools/conformance/operators.hpp"
#include "tools/conformance/softmax_precision.hpp"

namespace attn::conformance {

Results flex_attention(const Call& call) {
  call.check_counts(3, 1);
  const Array& q = call.input(0, "Q");
  const Array& k = call.input(1, "K");
  const Array& v = call.input(2, "V");
  if (q.shape.size() != 4 || k.shape.size() != 4 || v.shape.size() != 4)
    fail<FileError>("Q, K and V must have rank 4");
  const DType dtype = compute_dtype(call.path, {q.dtype, k.dtype, v.dtype});
  AttentionProblem problem{cast(q, dtype), cast(k, dtype), cast(v, dtype)};
  problem.q_shape = shape4_of(q, {}, "Q");
  problem.k_shape = shape4_of(k, {}, "K");
  problem.v_shape = shape4_of(v, {}, "V");
  check_problem(problem);

  Attributes attributes(call.node.attributes);
  const std::array<std::int64_t, 4> grid{problem.q_shape[0], problem.q_shape[1],
                                         problem.q_shape[2], problem.k_shape[2]};
  const auto modifier = [&](const char* name) -> std::optional<Modifier> {
    const nlohmann::json* graph = attributes.any(name);
    if (graph == nullptr) return std::nullopt;
    return compile_modifier(*graph, grid, name);
  };
  const double channels = static_cast<double>(std::max<std::int64_t>(problem.q_shape[3], 1));
  Recipe recipe;
  recipe.scale =
      static_cast<float>(attributes.number("scale").value_or(1.0 / std::sqrt(channels)));
  std::optional<Modifier> scores = modifier("score_mod");
  std::optional<Modifier> weights = modifier("prob_mod");
  check_softmax_precision(attributes);
  attributes.check_all_known();
  Memory memory(call.path);
  if (scores) {
    scores->place(memory);
    recipe.scores.push_back(scores->score());
  }
  if (weights) {
    weights->place(memory);
    recipe.weight_modifiers.push_back(weights->weight());
  }

  Results results;
  results.push_back(cast(run_forward(call.path, problem, recipe), q.dtype));
  return results;
}

}  // namespace attn::conformance
