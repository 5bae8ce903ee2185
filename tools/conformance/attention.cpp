// ONNX Attention, versions 23 to 25: the mask, the cache and the windows become masks of the
// library, so that the fused path is what runs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/table.hpp"
#include "attn/files/array.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dense.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/soft_cap.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"
#include "tools/conformance/softmax_precision.hpp"
#include "tools/conformance/write_rows.hpp"

namespace attn::conformance {
namespace {

/// What the fourth output holds.
enum class Tap { scores, capped, biased, weights };

/// No key is further away than this, and offsets can be added to it.
constexpr std::int64_t kFar = std::int64_t{1} << 28;

struct Settings {
  bool causal = false;
  std::optional<double> scale;
  double softcap = 0.0;
  std::optional<std::int64_t> q_heads, kv_heads;
  Tap tap = Tap::scores;
  std::int64_t left = -1, right = -1;
};

std::int64_t window_of(Attributes& attributes, const Call& call, const std::string& name) {
  constexpr std::int64_t kWindowsSince = 25;
  if (call.opset < kWindowsSince) return -1;
  const std::int64_t size = attributes.whole(name).value_or(-1);
  if (size < -1) fail<FileError>("attribute ", name, ": ", size, "; accepted: -1 and above");
  return size >= kFar ? -1 : size;
}

Settings settings_of(const Call& call) {
  Attributes attributes(call.node.attributes);
  Settings settings;
  const std::int64_t causal = attributes.whole("is_causal").value_or(0);
  if (causal != 0 && causal != 1)
    fail<FileError>("attribute is_causal: ", causal, "; accepted: 0, 1");
  settings.causal = causal == 1;
  settings.scale = attributes.number("scale");
  settings.softcap = attributes.number("softcap").value_or(0.0);
  settings.q_heads = attributes.whole("q_num_heads");
  settings.kv_heads = attributes.whole("kv_num_heads");
  const std::int64_t tap = attributes.whole("qk_matmul_output_mode").value_or(0);
  if (tap < 0 || tap > 3)
    fail<FileError>("attribute qk_matmul_output_mode: ", tap, "; accepted: 0..3");
  settings.tap = static_cast<Tap>(tap);
  check_softmax_precision(attributes);
  settings.left = window_of(attributes, call, "left_window_size");
  settings.right = window_of(attributes, call, "right_window_size");
  attributes.check_all_known();
  return settings;
}

/// Past rows and new ones in one array [batch, kv_heads, past + new, channels].
Array present_of(const Path& path, const Array& added, const Array* past,
                 std::optional<std::int64_t> heads, const std::string& name) {
  const auto shape = shape4_of(added, heads, name);
  if (past != nullptr) {
    if (past->dtype != added.dtype)
      fail<FileError>("past and ", name, " hold ", name_of(past->dtype), " and ",
                      name_of(added.dtype));
    if (past->shape.size() != 4 || past->shape[0] != shape[0] || past->shape[1] != shape[1] ||
        past->shape[3] != shape[3])
      fail<FileError>("past ", files::shape_text(past->shape), " does not fit ", name, " ",
                      files::shape_text(shape));
  }
  const std::int64_t before = past == nullptr ? 0 : past->shape[2];
  Array present = make_array(added.dtype, {shape[0], shape[1], before + shape[2], shape[3]});
  if (past != nullptr) write_rows(path, present, *past, shape4_of(*past, {}, "past"), 4, 0);
  write_rows(path, present, added, shape, added.shape.size(), before);
  return present;
}

/// The recipe of a call with the numbers its stages point to.
class Masking {
 public:
  Masking(const Call& call, const Settings& settings, const AttentionProblem& problem,
          std::int64_t past)
      : memory_(call.path), settings_(settings), problem_(problem), past_(past) {
    if (const Array* mask = call.optional_input(3)) add_mask(*mask);
    if (const Array* lengths = call.optional_input(6)) {
      add_lengths(*lengths);
    } else {
      add_bounds();
    }
  }

  void add_to(Recipe& recipe) const {
    if (bias_) recipe.scores.push_back(*bias_);
    recipe.masks = masks_;
  }

 private:
  std::int64_t batch() const { return problem_.q_shape[0]; }
  std::int64_t queries() const { return problem_.q_shape[2]; }
  std::int64_t keys() const { return problem_.k_shape[2]; }

  /// A mask of rank 1 to 4, lined up at the right; its last axis may be short, and what is
  /// missing there is masked.
  void add_mask(const Array& mask) {
    const std::array<std::int64_t, 4> full{batch(), problem_.q_shape[1], queries(), keys()};
    std::array<std::int64_t, 4> shape{1, 1, 1, 1};
    const std::size_t rank = mask.shape.size();
    bool fits = rank >= 1 && rank <= 4;
    for (std::size_t axis = 0; fits && axis < rank; ++axis) {
      const std::size_t to = 4 - rank + axis;
      shape[to] = mask.shape[axis];
      fits = to == 3 ? shape[to] <= full[to] : shape[to] == 1 || shape[to] == full[to];
    }
    if (!fits)
      fail<FileError>("attn_mask ", files::shape_text(mask.shape), " does not fit ",
                      files::shape_text(full));
    const std::int64_t width = shape[3];
    shape[3] = keys();
    const bool keeps = mask.dtype == DType::boolean;
    const float missing = keeps ? 0.0f : -std::numeric_limits<float>::infinity();
    const std::int64_t rows = shape[0] * shape[1] * shape[2];
    checked_volume(shape, kMaxElements, "a mask of");
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(rows * keys()));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t j = 0; j < keys(); ++j)
        values.push_back(j < width ? static_cast<float>(element(mask, row * width + j))
                                   : missing);
    if (keeps) {
      const auto* flags =
          memory_.keep(std::vector<unsigned char>(values.begin(), values.end()));
      const auto strides = table(flags, shape).strides;
      masks_.push_back(MaskTree::of(
          mask_stage(mask::Dense{flags, strides[0], strides[1], strides[2], strides[3]})));
    } else {
      bias_ = score_stage(score::Bias{}, {table(memory_.keep(std::move(values)), shape)});
    }
  }

  /// Without lengths every batch has the same offset: the keys of the past.
  void add_bounds() {
    const auto offset = static_cast<int>(past_);
    if (settings_.causal) masks_.push_back(MaskTree::of(mask_stage(mask::Causal{offset})));
    if (settings_.left >= 0 || settings_.right >= 0)
      masks_.push_back(MaskTree::of(mask_stage(mask::SlidingWindow{
          static_cast<int>(settings_.left), static_cast<int>(settings_.right), offset})));
  }

  /// With lengths the last query lines up with the last valid key of its own batch, so the
  /// bounds are lengths of each query.
  void add_lengths(const Array& lengths) {
    const std::vector<std::int64_t> valid = to_ints(lengths, "nonpad_kv_seqlen");
    if (lengths.shape != Shape{batch()})
      fail<FileError>("nonpad_kv_seqlen ", files::shape_text(lengths.shape), "; expected [",
                      batch(), "]");
    for (const std::int64_t length : valid)
      if (length < 0 || length > keys())
        fail<FileError>("nonpad_kv_seqlen has ", length, "; there are ", keys(), " keys");
    add_upper(valid, std::nullopt);
    if (settings_.causal) add_upper(valid, 0);
    if (settings_.right >= 0) add_upper(valid, settings_.right);
    if (settings_.left < 0) return;
    // Keys below the window are those that a length would keep.
    MaskTree outside{MaskTree::Kind::none_of, {}, {}};
    outside.children.push_back(lengths_mask(valid, -settings_.left - 1));
    masks_.push_back(outside);
  }

  void add_upper(const std::vector<std::int64_t>& valid, std::optional<std::int64_t> reach) {
    masks_.push_back(lengths_mask(valid, reach));
  }

  /// Keeps k <= position of the query + reach; without a reach, the valid keys.
  MaskTree lengths_mask(const std::vector<std::int64_t>& valid,
                        std::optional<std::int64_t> reach) {
    std::vector<int> list;
    for (const std::int64_t length : valid) {
      if (!reach) list.push_back(static_cast<int>(length));
      for (std::int64_t i = 0; reach && i < queries(); ++i)
        list.push_back(static_cast<int>(length - queries() + i + *reach + 1));
    }
    const int* lengths = memory_.keep(std::move(list));
    const auto rows = static_cast<long>(queries());
    return MaskTree::of(
        mask_stage(reach ? mask::Lengths{lengths, rows, 1} : mask::Lengths{lengths, 1, 0}));
  }

  Memory memory_;
  const Settings& settings_;
  const AttentionProblem& problem_;
  std::int64_t past_;
  std::optional<AnyScore> bias_;
  std::vector<MaskTree> masks_;
};

void check_inputs(const Call& call, const Settings& settings) {
  constexpr std::int64_t kLengthsSince = 24;
  constexpr std::int64_t kStrictSince = 25;
  call.check_counts(call.opset >= kLengthsSince ? 7 : 6, 4);
  const bool past_key = call.optional_input(4) != nullptr;
  if (past_key != (call.optional_input(5) != nullptr))
    fail<FileError>("past_key and past_value come together or not at all");
  if (past_key && call.optional_input(6) != nullptr)
    fail<FileError>("nonpad_kv_seqlen and past_key exclude each other");
  const std::size_t rank = call.input(0, "Q").shape.size();
  if (call.input(1, "K").shape.size() != rank || call.input(2, "V").shape.size() != rank)
    fail<FileError>("Q, K and V must have the same rank");
  if (call.opset >= kStrictSince && rank == 4 && (settings.q_heads || settings.kv_heads))
    fail<FileError>("q_num_heads and kv_num_heads belong to inputs of rank 3");
}

}  // namespace

Results attention(const Call& call) {
  const Settings settings = settings_of(call);
  check_inputs(call, settings);
  const Array& q = call.input(0, "Q");
  const Array* past = call.optional_input(4);
  Array k = present_of(call.path, call.input(1, "K"), past, settings.kv_heads, "K");
  Array v =
      present_of(call.path, call.input(2, "V"), call.optional_input(5), settings.kv_heads, "V");

  const DType dtype = compute_dtype(call.path, {q.dtype, k.dtype, v.dtype});
  AttentionProblem problem{cast(q, dtype), cast(k, dtype), cast(v, dtype)};
  problem.q_shape = shape4_of(q, settings.q_heads, "Q");
  problem.k_shape = shape4_of(k, {}, "K");
  problem.v_shape = shape4_of(v, {}, "V");
  problem.q_rank = q.shape.size();
  check_problem(problem);

  const double channels = static_cast<double>(std::max<std::int64_t>(problem.q_shape[3], 1));
  const Masking masking(call, settings, problem, past == nullptr ? 0 : past->shape[2]);
  Recipe recipe;
  recipe.scale = static_cast<float>(settings.scale.value_or(1.0 / std::sqrt(channels)));
  // The cap comes before the mask, so that a masked score stays masked.
  if (settings.softcap > 0.0)
    recipe.scores.push_back(score_stage(score::SoftCap{static_cast<float>(settings.softcap)}));
  const int capped = static_cast<int>(recipe.scores.size());
  masking.add_to(recipe);
  const int biased = static_cast<int>(recipe.scores.size());

  Results results(4);
  results[0] = cast(run_forward(call.path, problem, recipe), q.dtype);
  if (call.wants_output(3)) {
    const int stages = settings.tap == Tap::scores   ? 0
                       : settings.tap == Tap::capped ? capped
                       : settings.tap == Tap::biased ? biased
                                                     : -1;
    results[3] = cast(
        run_scores(call.path, problem, recipe, stages, settings.tap == Tap::biased), q.dtype);
  }
  results[1] = std::move(k);
  results[2] = std::move(v);
  return results;
}

}  // namespace attn::conformance
