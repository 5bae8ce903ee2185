// ONNX LinearAttention, version 27.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/kernels/linear.hpp"
#include "attn/pool/linear.hpp"
#include "attn/tensor/gpu.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {
namespace {

struct Settings {
  pool::UpdateRule rule = pool::UpdateRule::gated_delta;
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  double scale = 0.0;  ///< 0: 1 / sqrt(channels)
};

pool::UpdateRule rule_of(const std::string& name) {
  if (name == "linear") return pool::UpdateRule::linear;
  if (name == "gated") return pool::UpdateRule::gated;
  if (name == "delta") return pool::UpdateRule::delta;
  if (name == "gated_delta") return pool::UpdateRule::gated_delta;
  fail<FileError>("attribute update_rule: ", files::in_quotes(name),
                  "; accepted: linear, gated, delta, gated_delta");
}

Settings settings_of(const Call& call) {
  Attributes attributes(call.node.attributes);
  Settings settings;
  settings.rule = rule_of(attributes.text("update_rule").value_or("gated_delta"));
  settings.q_heads = attributes.whole("q_num_heads").value_or(0);
  settings.kv_heads = attributes.whole("kv_num_heads").value_or(0);
  settings.scale = attributes.number("scale").value_or(0.0);
  attributes.whole("chunk_size");  // a hint that changes no result
  attributes.check_all_known();
  if (settings.kv_heads < 1 || settings.q_heads < 1 ||
      settings.q_heads % settings.kv_heads != 0)
    fail<FileError>("q_num_heads is ", settings.q_heads, " and kv_num_heads ",
                    settings.kv_heads, "; both are needed, the first a multiple of the second");
  return settings;
}

void check_rank3(const Array& array, const char* name) {
  if (array.shape.size() != 3)
    fail<FileError>(name, " has rank ", array.shape.size(), "; expected 3");
}

/// The inputs, all in the type that is computed in.
struct Problem {
  Array q, k, v, decay, beta, past;
  std::array<std::int64_t, 4> q_shape{}, k_shape{}, v_shape{}, state_shape{};
  bool has_decay = false, has_beta = false, has_past = false;
};

Problem problem_of(const Call& call, const Settings& settings) {
  const Array& q = call.input(0, "query");
  const Array& k = call.input(1, "key");
  const Array& v = call.input(2, "value");
  check_rank3(q, "query");
  check_rank3(k, "key");
  check_rank3(v, "value");
  const DType dtype = compute_dtype(call.path, {q.dtype, k.dtype, v.dtype});
  Problem problem{cast(q, dtype), cast(k, dtype), cast(v, dtype), {}, {}, {}};
  problem.q_shape = shape4_of(q, settings.q_heads, "query");
  problem.k_shape = shape4_of(k, settings.kv_heads, "key");
  problem.v_shape = shape4_of(v, settings.kv_heads, "value");
  problem.state_shape = {problem.k_shape[0], settings.kv_heads, problem.k_shape[3],
                         problem.v_shape[3]};
  if (const Array* past = call.optional_input(3)) {
    if (past->shape != Shape(problem.state_shape.begin(), problem.state_shape.end()))
      fail<FileError>("past_state ", files::shape_text(past->shape), "; expected ",
                      files::shape_text(problem.state_shape));
    compute_dtype(call.path, {past->dtype});
    problem.past = cast(*past, dtype == DType::f64 ? DType::f64 : DType::f32);
    problem.has_past = true;
  }
  if (const Array* decay = call.optional_input(4)) {
    check_rank3(*decay, "decay");
    compute_dtype(call.path, {decay->dtype});
    problem.decay = cast(*decay, dtype);
    problem.has_decay = true;
  }
  if (const Array* beta = call.optional_input(5)) {
    check_rank3(*beta, "beta");
    compute_dtype(call.path, {beta->dtype});
    problem.beta = cast(*beta, dtype);
    problem.has_beta = true;
  }
  if (problem.has_decay != pool::has_decay(settings.rule))
    fail<FileError>("decay belongs to the gated update rules, and only to them");
  if (problem.has_beta != pool::has_delta(settings.rule))
    fail<FileError>("beta belongs to the delta update rules, and only to them");
  checked_volume(std::array{problem.q_shape[0], problem.q_shape[1], problem.q_shape[2],
                            problem.q_shape[3], problem.v_shape[3] + 1},
                 kMaxWork, "a problem of");
  return problem;
}

/// [batch, steps, heads or heads * channels]: one decay for a head, or one for a channel.
template <class T>
View<const T, 4> decay_view(Memory& memory, const Problem& problem) {
  const auto& [batch, heads, steps, channels] = problem.k_shape;
  const Shape& shape = problem.decay.shape;
  const std::int64_t width = shape[2] == heads ? 1 : channels;
  if (shape != Shape{batch, steps, heads * width})
    fail<FileError>("decay ", files::shape_text(shape), "; expected [", batch, ", ", steps,
                    ", ", heads, " or ", heads * channels, "]");
  return view4(memory.read<T>(problem.decay), {batch, heads, steps, width}, 3);
}

/// [batch, steps, heads or 1].
template <class T>
View<const T, 3> beta_view(Memory& memory, const Problem& problem) {
  const auto& [batch, heads, steps, channels] = problem.k_shape;
  const Shape& shape = problem.beta.shape;
  const std::int64_t width = shape[2] == 1 ? 1 : heads;
  if (shape != Shape{batch, steps, width})
    fail<FileError>("beta ", files::shape_text(shape), "; expected [", batch, ", ", steps, ", ",
                    heads, " or 1]");
  return {memory.read<T>(problem.beta),
          {batch, heads, steps},
          {steps * width, width == 1 ? 0 : 1, width}};
}

template <class T>
void run(const Path& path, const Settings& settings, const Problem& problem, Array& out,
         Array& state) {
  const double channels = static_cast<double>(std::max<std::int64_t>(problem.k_shape[3], 1));
  const std::array<std::int64_t, 4> out_shape{problem.q_shape[0], problem.q_shape[1],
                                              problem.q_shape[2], problem.v_shape[3]};
  Memory memory(path);
  LinearArgs<T> args{
      .q = view4(memory.read<T>(problem.q), problem.q_shape, 3),
      .k = view4(memory.read<T>(problem.k), problem.k_shape, 3),
      .v = view4(memory.read<T>(problem.v), problem.v_shape, 3),
      .state = view4(memory.write<StatOf<T>>(state), problem.state_shape, 4),
      .out = view4(memory.write<T>(out), out_shape, 3),
      .rule = settings.rule,
      .scale = settings.scale == 0.0 ? 1.0 / std::sqrt(channels) : settings.scale};
  if (problem.has_decay) args.decay = decay_view<T>(memory, problem);
  if (problem.has_beta) args.beta = beta_view<T>(memory, problem);
  if (problem.has_past)
    args.past = view4(memory.read<StatOf<T>>(problem.past), problem.state_shape, 4);
  if (path.is_gpu()) {
    gpu::linear(args, memory.workspace(gpu::linear_workspace(args)), gpu::stream());
    return memory.finish();
  }
  if (path.kind == Path::Kind::reference) return reference::linear(args);
  if constexpr (!std::is_same_v<T, double>) cpu::linear(args, path.context);
}

}  // namespace

Results linear_attention(const Call& call) {
  call.check_counts(6, 2);
  const Settings settings = settings_of(call);
  const Problem problem = problem_of(call, settings);
  const DType dtype = problem.q.dtype;
  Array out = make_array(
      dtype, {problem.q_shape[0], problem.q_shape[2], settings.q_heads * problem.v_shape[3]});
  Array state = make_array(dtype == DType::f64 ? DType::f64 : DType::f32,
                           Shape(problem.state_shape.begin(), problem.state_shape.end()));
  with_float_type(
      dtype, [&](auto zero) { run<decltype(zero)>(call.path, settings, problem, out, state); });
  const DType storage = call.input(0, "query").dtype;
  const Array* past = call.optional_input(3);
  Results results;
  results.push_back(cast(out, storage));
  results.push_back(cast(state, past != nullptr ? past->dtype : storage));
  return results;
}

}  // namespace attn::conformance
