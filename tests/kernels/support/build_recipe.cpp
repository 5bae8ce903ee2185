#include "kernels/support/build_recipe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/mask/block_sparse.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dense.hpp"
#include "attn/mask/dilated.hpp"
#include "attn/mask/documents.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/none.hpp"
#include "attn/mask/prefix.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/normalise/dropout.hpp"
#include "attn/normalise/hard.hpp"
#include "attn/normalise/identity.hpp"
#include "attn/normalise/local_gaussian.hpp"
#include "attn/normalise/mean.hpp"
#include "attn/normalise/scale_weight.hpp"
#include "attn/normalise/sigmoid.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/normalise/sparsemax.hpp"
#include "attn/normalise/summed_sigmoid.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/gaussian.hpp"
#include "attn/score/prior.hpp"
#include "attn/score/program.hpp"
#include "attn/score/relative_table.hpp"
#include "attn/score/scale.hpp"
#include "attn/score/soft_cap.hpp"
#include "attn/score/t5_bias.hpp"
#include "attn/score/t5_buckets.hpp"
#include "kernels/support/problem.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

/// Builds the stages of a problem one by one.
class Builder {
 public:
  explicit Builder(Problem& to) : to_(to), spec_(to.spec), random_(spec_.seed + " stages") {}

  void build() {
    similarity();
    for (std::size_t i = 0; i < spec_.scores.size(); ++i)
      to_.recipe.scores.push_back(score(spec_.scores[i], static_cast<int>(i)));
    for (const MaskSpec& mask : spec_.masks) to_.recipe.masks.push_back(tree(mask));
    normaliser();
    for (std::size_t i = 0; i < spec_.factors.size(); ++i)
      to_.recipe.weight_modifiers.push_back(factor(spec_.factors[i], static_cast<int>(i)));
  }

 private:
  using Stage = TablePlace::Stage;

  Table add_table(TablePlace place, Shape shape, double low, double high) {
    TestTable table{place, shape, 1, {}, {}};
    // Shared entries have stride zero whatever the spacing.
    if (spec_.wide_tables && shape[3] > 1) table.spacing = 2;
    const std::size_t size = std::max<std::size_t>(1, elements(shape));
    table.f32.assign(size * static_cast<std::size_t>(table.spacing), NAN);
    for (std::size_t i = 0; i < size; ++i)
      table.f32[i * static_cast<std::size_t>(table.spacing)] =
          static_cast<float>(random_.uniform(low, high));
    table.f64.assign(table.f32.begin(), table.f32.end());
    to_.tables.push_back(std::move(table));
    return to_.tables.back().as(DType::f32);
  }
  Shape shared(Sharing sharing, std::int64_t entries) const {
    const std::int64_t b = spec_.batch, h = spec_.heads(), n = spec_.queries;
    switch (sharing) {
      case Sharing::all:
        return {1, 1, 1, entries};
      case Sharing::per_head:
        return {1, h, 1, entries};
      case Sharing::per_sequence:
        return {b, 1, 1, entries};
      case Sharing::per_query:
        return {1, h, n, entries};
      case Sharing::query_only:
        return {1, 1, n, entries};
      case Sharing::dense:
        return {b, h, n, entries};
    }
    return {1, 1, 1, entries};
  }

  void similarity() {
    to_.recipe.similarity = spec_.similarity;
    to_.recipe.scale = 0.7f;
    const std::int64_t heads = spec_.weights_per_head ? spec_.kv_heads : 1;
    const bool wide = spec_.width == WidthKind::channel;
    if (spec_.similarity == Similarity::additive)
      to_.recipe.weights = add_table({}, {1, heads, 1, spec_.channels}, -1.0, 1.0);
    if (spec_.similarity == Similarity::distance && spec_.width != WidthKind::none)
      to_.recipe.weights = add_table({}, {1, heads, 1, wide ? spec_.channels : 1}, 0.2, 0.8);
  }

  AnyScore score(const ScoreSpec& from, int index) {
    const int keys = std::max(1, spec_.keys);
    const int offset = random_.whole(-3, 3);
    const auto table = [&](int slot, std::int64_t entries, double low, double high) {
      return add_table({Stage::score, index, slot}, shared(from.sharing, entries), low, high);
    };
    switch (from.kind) {
      case ScoreKind::scale:
        return score_stage(score::Scale{0.6f});
      case ScoreKind::learned_scale:
        return score_stage(score::LearnedScale{}, {table(0, 1, 0.3, 1.2)});
      case ScoreKind::soft_cap:
        return score_stage(score::SoftCap{2.5f});
      case ScoreKind::alibi:
        return score_stage(score::Alibi{offset}, {table(0, 1, 0.0, 4.0 / keys)});
      case ScoreKind::relative: {
        const int reach = random_.whole(0, 9);
        return score_stage(score::RelativeTable{reach, offset},
                           {table(0, 2 * reach + 1, -1.0, 1.0)});
      }
      case ScoreKind::t5: {
        constexpr int kBuckets = 8, kReach = 20;
        auto& buckets = to_.numbers.emplace_back(2 * kReach + 1);
        score::fill_t5_buckets(buckets.data(), kBuckets, kReach, score::T5Direction::both);
        return score_stage(score::T5Bias{buckets.data(), kReach, offset},
                           {table(0, kBuckets, -1.0, 1.0)});
      }
      case ScoreKind::gaussian:
        return score_stage(score::Gaussian{0.4f * static_cast<float>(keys)},
                           {table(0, 1, 0.0, keys)});
      case ScoreKind::learned_gaussian: {
        const Table centre = table(0, 1, 0.0, keys);
        return score_stage(score::LearnedGaussian{},
                           {centre, table(1, 1, 0.4 * keys, 0.8 * keys)});
      }
      case ScoreKind::bias:
        return score_stage(score::Bias{}, {table(0, spec_.keys, -1.0, 1.0)});
      case ScoreKind::prior:
        return score_stage(score::Prior{0.5f}, {table(0, spec_.keys, -1.0, 1.0)});
      case ScoreKind::program:
        return score_stage(program(), {table(0, 1, 0.5, 1.5)});
    }
    return score_stage(score::Scale{});
  }
  /// x * tanh(t) + t, differentiated by dual numbers: two reads of one table.
  static score::Program program() {
    using score::Operation;
    score::Program code;
    code.code[0] = {Operation::table_value, 0};
    code.code[1] = {Operation::tanh, 0};
    code.code[2] = {Operation::score};
    code.code[3] = {Operation::multiply, 1, 2};
    code.code[4] = {Operation::table_value, 0};
    code.code[5] = {Operation::add, 3, 4};
    code.count = 6;
    return code;
  }

  MaskTree tree(const MaskSpec& from) {
    MaskTree result;
    result.kind = from.kind;
    if (from.kind == MaskTree::Kind::leaf) result.leaf = leaf(from.leaf);
    for (const MaskSpec& child : from.children) result.children.push_back(tree(child));
    return result;
  }
  std::vector<int>& some_numbers(int count, int low, int high) {
    auto& list = to_.numbers.emplace_back(static_cast<std::size_t>(std::max(1, count)));
    for (int& x : list) x = random_.whole(low, high);
    return list;
  }
  unsigned char* some_flags(std::int64_t count) {
    auto& list =
        to_.flags.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(1, count)));
    for (unsigned char& x : list) x = random_.whole(0, 3) != 0 ? 1 : 0;
    return list.data();
  }
  AnyMask leaf(MaskKind kind) {
    const int n = spec_.queries, m = spec_.keys;
    switch (kind) {
      case MaskKind::none:
        return mask_stage(mask::None{});
      case MaskKind::causal:
        return mask_stage(mask::Causal::bottom_right(n, m));
      case MaskKind::causal_top_left:
        return mask_stage(mask::Causal::top_left());
      case MaskKind::window:
        return mask_stage(mask::SlidingWindow{random_.whole(-1, std::max(1, m / 2)),
                                              random_.whole(-1, 4), random_.whole(-3, 3)});
      case MaskKind::prefix:
        return mask_stage(mask::Prefix{random_.whole(0, m), 0});
      case MaskKind::lengths:
        return mask_stage(mask::Lengths{some_numbers(spec_.batch, 0, m).data()});
      case MaskKind::query_lengths:
        return mask_stage(mask::Lengths{some_numbers(spec_.batch * n, 0, m).data(), n, 1});
      case MaskKind::documents: {
        auto& q = some_numbers(spec_.batch * n, 0, 3);
        auto& k = some_numbers(spec_.batch * m, 0, 3);
        if (random_.whole(0, 1) == 0 && spec_.batch == 1) {
          std::sort(q.begin(), q.end());
          std::sort(k.begin(), k.end());
        }
        return mask_stage(mask::Documents{q.data(), k.data(), n, m});
      }
      case MaskKind::dilated:
        return mask_stage(
            mask::Dilated{random_.whole(1, 4), random_.whole(-1, 20), random_.whole(-3, 3)});
      case MaskKind::block_sparse: {
        const int q_block = random_.whole(1, 40), k_block = random_.whole(1, 50);
        const long rows = n / q_block + 1, cols = m / k_block + 1;
        return mask_stage(mask::BlockSparse{some_flags(rows * cols * spec_.heads()), q_block,
                                            k_block, cols, 1, rows * cols, 0});
      }
      case MaskKind::dense: {
        const long row = m, head = long{n} * m, batch = head * spec_.heads();
        return mask_stage(mask::Dense{some_flags(batch * spec_.batch), batch, head, row, 1});
      }
    }
    return mask_stage(mask::None{});
  }

  void normaliser() {
    AnyNormaliser& n = to_.recipe.normaliser;
    switch (spec_.normaliser) {
      case NormaliserKind::softmax:
        n = normaliser_stage(normalise::Softmax{});
        break;
      case NormaliserKind::sink:
        n = normaliser_stage(
            normalise::SoftmaxSink{},
            {add_table({Stage::normaliser, 0, 0}, {1, spec_.heads(), 1, 1}, -1.0, 1.0)});
        break;
      case NormaliserKind::identity:
        n = normaliser_stage(normalise::Identity{});
        break;
      case NormaliserKind::mean:
        n = normaliser_stage(normalise::Mean{});
        break;
      case NormaliserKind::sigmoid:
        n = normaliser_stage(normalise::Sigmoid{});
        break;
      case NormaliserKind::summed_sigmoid:
        n = normaliser_stage(normalise::SummedSigmoid{});
        break;
      case NormaliserKind::hard_max:
        n = normaliser_stage(normalise::HardMax{});
        break;
      case NormaliserKind::hard_sample:
        n = normaliser_stage(normalise::HardSample{77});
        break;
      case NormaliserKind::sparsemax:
        n = normaliser_stage(normalise::Sparsemax{});
        break;
    }
  }

  AnyWeight factor(const FactorSpec& from, int index) {
    const int keys = std::max(1, spec_.keys);
    const auto table = [&](double low, double high) {
      return add_table({Stage::factor, index, 0}, shared(from.sharing, 1), low, high);
    };
    switch (from.kind) {
      case FactorKind::dropout:
        return weight_stage(normalise::Dropout{91, 0.3f});
      case FactorKind::local_gaussian:
        return weight_stage(normalise::LocalGaussian{0.4f * static_cast<float>(keys)},
                            {table(0.0, keys)});
      case FactorKind::scale_weight:
        return weight_stage(normalise::ScaleWeight{}, {table(0.5, 1.5)});
      case FactorKind::program:
        return weight_stage(program(), {table(0.5, 1.5)});
    }
    return weight_stage(normalise::Dropout{});
  }

  Problem& to_;
  const Spec& spec_;
  Random random_;
};

}  // namespace

void build_recipe(Problem& problem) {
  Builder(problem).build();
}

}  // namespace attn::test
