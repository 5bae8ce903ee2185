#include "kernels/support/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>

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
#include "support/random.hpp"

namespace attn::test {
namespace {

std::size_t size_of(const Shape& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return static_cast<std::size_t>(size);
}

double rounded(double x, DType dtype) {
  const auto single = static_cast<float>(x);
  if (dtype == DType::bf16) return widen(BFloat16(single));
  if (dtype == DType::f16) return widen(Float16(single));
  return static_cast<double>(single);
}

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
      to_.recipe.factors.push_back(factor(spec_.factors[i], static_cast<int>(i)));
  }

 private:
  using Stage = TablePlace::Stage;

  Table add_table(TablePlace place, Shape shape, double low, double high) {
    TestTable table{place, shape, 1, {}, {}};
    // Shared entries have stride zero whatever the spacing.
    if (spec_.wide_tables && shape[3] > 1) table.spacing = 2;
    const std::size_t size = std::max<std::size_t>(1, size_of(shape));
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

/// Smaller specs to try, the boldest first.
std::vector<Spec> smaller(const Spec& spec) {
  std::vector<Spec> tries;
  const auto drop_each = [&](auto member) {
    for (std::size_t i = 0; i < (spec.*member).size(); ++i) {
      Spec less = spec;
      (less.*member).erase((less.*member).begin() + static_cast<std::ptrdiff_t>(i));
      tries.push_back(std::move(less));
    }
  };
  const auto set = [&](auto member, auto value) {
    if (spec.*member == value) return;
    Spec less = spec;
    less.*member = value;
    tries.push_back(std::move(less));
  };
  drop_each(&Spec::scores);
  drop_each(&Spec::masks);
  drop_each(&Spec::factors);
  set(&Spec::normaliser, NormaliserKind::softmax);
  if (spec.similarity != Similarity::dot && spec.similarity != Similarity::given)
    set(&Spec::similarity, Similarity::dot);
  set(&Spec::d_weights, false);
  set(&Spec::d_stat, false);
  set(&Spec::q_lay, Lay::packed);
  set(&Spec::kv_lay, Lay::packed);
  set(&Spec::out_lay, Lay::packed);
  set(&Spec::wide_tables, false);
  set(&Spec::dtype, DType::f32);
  for (auto member : {&Spec::batch, &Spec::kv_heads, &Spec::group, &Spec::value_channels,
                      &Spec::queries, &Spec::keys, &Spec::channels}) {
    if (member == &Spec::channels &&
        (spec.similarity == Similarity::sum || spec.similarity == Similarity::given))
      continue;
    if (spec.*member > 1) {
      set(member, 1);
      set(member, spec.*member / 2);
      set(member, spec.*member - 1);
    }
  }
  return tries;
}

std::string held(const Spec& spec, const Property& property) {
  try {
    const Problem problem(spec);
    return property(problem);
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

}  // namespace

Table TestTable::as(DType dtype) const {
  Table result = table(f32.data(), shape);
  for (std::int64_t& stride : result.strides) stride *= spacing;
  if (dtype == DType::f64) {
    result.data = f64.data();
    result.dtype = DType::f64;
  }
  return result;
}

TableGrad TestTable::grad(void* data, DType dtype) const {
  const Table like = as(DType::f32);
  return {data, dtype, like.shape, like.strides};
}

Problem::Problem(const Spec& from) : spec(from) {
  Random random(spec.seed + " numbers");
  const auto fill = [&](const Shape& shape, double low = -1.0, double high = 1.0) {
    std::vector<double> result(size_of(shape));
    for (double& x : result) x = rounded(random.uniform(low, high), spec.dtype);
    return result;
  };
  q = fill(q_shape());
  k = fill(k_shape());
  v = fill(v_shape());
  if (spec.kv_lay == Lay::shared_heads) {
    const auto heads = static_cast<std::size_t>(spec.kv_heads);
    for (auto* list : {&k, &v}) {
      const std::size_t head =
          list->size() / std::max<std::size_t>(1, heads * static_cast<std::size_t>(spec.batch));
      for (std::size_t i = 0; i < list->size(); ++i)
        (*list)[i] = (*list)[i / head / heads * heads * head + i % head];
    }
  }
  d_out = fill(out_shape());
  const std::int64_t b = spec.batch, h = spec.heads(), n = spec.queries, m = spec.keys;
  if (spec.d_stat) d_stat = fill({b, h, n, 1});
  if (spec.d_weights) {
    d_all = fill({b, h, n, m});
    d_columns = fill({b, h, m, 1});
    distance_reach = random.whole(0, 5);
    distance_offset = random.whole(-2, 2);
    d_distances = fill({b, h, n, 2 * distance_reach + 1});
    // What arrives at weights is float whatever the storage.
    for (auto* list : {&d_all, &d_columns, &d_distances})
      for (double& x : *list) x = static_cast<float>(x);
  }
  Builder(*this).build();
}

Recipe Problem::exact() const {
  Recipe result = recipe;
  for (const TestTable& entry : tables) {
    const Table wide = entry.as(DType::f64);
    const auto index = static_cast<std::size_t>(entry.place.index);
    const auto slot = static_cast<std::size_t>(entry.place.slot);
    switch (entry.place.stage) {
      case TablePlace::Stage::similarity:
        result.weights = wide;
        break;
      case TablePlace::Stage::score:
        result.scores[index].data.tables[slot] = wide;
        break;
      case TablePlace::Stage::normaliser:
        result.normaliser.data.tables[slot] = wide;
        break;
      case TablePlace::Stage::factor:
        result.factors[index].stage.data.tables[slot] = wide;
        break;
    }
  }
  return result;
}

Shape Problem::q_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.channels};
}
Shape Problem::k_shape() const {
  return {spec.batch, spec.kv_heads, spec.keys, spec.channels};
}
Shape Problem::v_shape() const {
  return {spec.batch, spec.kv_heads, spec.keys, spec.value_channels};
}
Shape Problem::out_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.value_channels};
}
Shape Problem::weights_shape() const {
  return {spec.batch, spec.heads(), spec.queries, spec.keys};
}

Spec draw_spec(const std::string& seed, Size size) {
  Random random(seed);
  const auto flip = [&](int one_in) { return random.whole(1, one_in) == 1; };
  Spec spec;
  spec.seed = seed;
  if (size == Size::tiny) {
    spec.batch = random.whole(1, 2);
    spec.kv_heads = random.whole(1, 2);
    spec.group = random.whole(1, 2);
    spec.queries = random.whole(1, 4);
    spec.keys = random.whole(1, 6);
    spec.channels = random.whole(1, 4);
    spec.value_channels = random.whole(1, 3);
  } else {
    spec.batch = flip(20) ? 0 : random.whole(1, 3);
    spec.kv_heads = random.whole(1, 3);
    spec.group = random.whole(1, 3);
    spec.queries = flip(15) ? 0 : random.whole(1, 30);
    spec.keys = flip(15) ? 0 : random.whole(1, 45);
    spec.channels = random.whole(1, 70);
    spec.value_channels = random.whole(1, 70);
    if (flip(4)) {  // across the borders of tiles, with little else
      spec.batch = 1;
      spec.kv_heads = 1;
      spec.group = random.whole(1, 2);
      spec.queries = random.whole(1, flip(3) ? kManyQueries + 20 : 40);
      spec.keys = random.whole(100, flip(2) ? 2 * kManyKeys : 300);
      spec.channels = random.whole(1, 12);
      spec.value_channels = random.whole(1, 40);
    }
    constexpr std::array<DType, 6> kTypes{DType::f32, DType::f32,  DType::f32,
                                          DType::f32, DType::bf16, DType::f16};
    spec.dtype = kTypes[static_cast<std::size_t>(random.whole(0, 5))];
  }
  spec.q_lay = static_cast<Lay>(random.whole(0, kLays - 1));
  spec.kv_lay = static_cast<Lay>(random.whole(0, kLays));
  spec.out_lay = static_cast<Lay>(random.whole(0, kLays - 1));
  spec.wide_tables = flip(4);
  spec.similarity = flip(2) ? Similarity::dot : static_cast<Similarity>(random.whole(0, 5));
  if (spec.similarity == Similarity::sum) spec.channels = 1;
  if (spec.similarity == Similarity::given) spec.channels = 0;
  spec.width = static_cast<WidthKind>(random.whole(0, 2));
  spec.weights_per_head = flip(2);
  const auto sharing = [&] { return static_cast<Sharing>(random.whole(0, kSharings - 1)); };
  if (spec.similarity == Similarity::given) spec.scores.push_back({ScoreKind::bias, sharing()});
  for (int i = random.whole(0, 3); i > 0; --i)
    spec.scores.push_back(
        {static_cast<ScoreKind>(random.whole(0, kScoreKinds - 1)), sharing()});
  const std::function<MaskSpec(int)> mask = [&](int depth) {
    MaskSpec node;
    node.leaf = static_cast<MaskKind>(random.whole(0, kMaskKinds - 1));
    if (depth == 0 || flip(2)) return node;
    node.kind = static_cast<MaskTree::Kind>(random.whole(1, 3));
    for (int i = random.whole(1, 2); i > 0; --i) node.children.push_back(mask(depth - 1));
    return node;
  };
  for (int i = random.whole(0, 3); i > 0; --i) spec.masks.push_back(mask(2));
  spec.normaliser = flip(2)
                        ? NormaliserKind::softmax
                        : static_cast<NormaliserKind>(random.whole(0, kNormaliserKinds - 1));
  for (int i = flip(2) ? 0 : random.whole(1, 2); i > 0; --i)
    spec.factors.push_back(
        {static_cast<FactorKind>(random.whole(0, kFactorKinds - 1)), sharing()});
  spec.d_stat = spec.has_lse() && flip(2);
  spec.d_weights = flip(3);
  return spec;
}

std::string describe(const Spec& spec) {
  std::ostringstream out;
  const auto number = [](auto value) { return static_cast<int>(value); };
  out << "seed \"" << spec.seed << "\": batch " << spec.batch << ", kv heads " << spec.kv_heads
      << ", group " << spec.group << ", queries " << spec.queries << ", keys " << spec.keys
      << ", channels " << spec.channels << ", value channels " << spec.value_channels << ", "
      << name_of(spec.dtype) << ", layouts " << number(spec.q_lay) << ' ' << number(spec.kv_lay)
      << ' ' << number(spec.out_lay) << ", wide tables " << spec.wide_tables << ", similarity "
      << number(spec.similarity) << ", width " << number(spec.width) << ", weights per head "
      << spec.weights_per_head << ", scores {";
  for (const ScoreSpec& s : spec.scores)
    out << ' ' << number(s.kind) << '/' << number(s.sharing);
  out << " }, masks {";
  const std::function<void(const MaskSpec&)> mask = [&](const MaskSpec& node) {
    if (node.kind == MaskTree::Kind::leaf) {
      out << ' ' << number(node.leaf);
      return;
    }
    constexpr std::array<const char*, 4> kNames{"", " and(", " or(", " not("};
    out << kNames[static_cast<std::size_t>(node.kind)];
    for (const MaskSpec& child : node.children) mask(child);
    out << " )";
  };
  for (const MaskSpec& node : spec.masks) mask(node);
  out << " }, normaliser " << number(spec.normaliser) << ", factors {";
  for (const FactorSpec& f : spec.factors)
    out << ' ' << number(f.kind) << '/' << number(f.sharing);
  out << " }, d_stat " << spec.d_stat << ", d_weights " << spec.d_weights;
  return out.str();
}

void check_spec(const Spec& given, const Property& property) {
  Spec spec = given;
  std::string wrong = held(spec, property);
  if (wrong.empty()) return;
  for (int rounds = 0; rounds < 40; ++rounds) {
    bool shrunk = false;
    for (Spec& less : smaller(spec)) {
      const std::string still = held(less, property);
      if (still.empty()) continue;
      spec = std::move(less);
      wrong = still;
      shrunk = true;
      break;
    }
    if (!shrunk) break;
  }
  ADD_FAILURE() << wrong << "\n  smallest: " << describe(spec)
                << "\n  drawn as: " << describe(given);
}

void check_property(std::string_view name, int count, Size size, const Property& property,
                    const std::function<void(Spec&)>& adjust) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    Spec spec = draw_spec(std::string(name) + " " + std::to_string(i), size);
    if (adjust) adjust(spec);
    check_spec(spec, property);
  }
}

std::string difference(std::string_view name, const std::vector<double>& got,
                       const std::vector<double>& want, double within) {
  std::ostringstream out;
  if (got.size() != want.size()) {
    out << name << ": " << got.size() << " numbers, expected " << want.size() << "; ";
    return out.str();
  }
  double largest = 0.0;
  for (const double x : want)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  const double allowed = within * (1.0 + largest);
  std::size_t worst = got.size();
  std::size_t wrong = 0;
  double off = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double apart = std::fabs(got[i] - want[i]);
    if (apart <= allowed) continue;
    ++wrong;
    if (worst == got.size() || !(apart <= off)) {
      worst = i;
      off = apart;
    }
  }
  if (wrong == 0) return "";
  out << name << ": " << wrong << " of " << got.size() << " wrong, worst at " << worst
      << ": got " << got[worst] << ", want " << want[worst] << ", allowed " << allowed << "; ";
  return out.str();
}

}  // namespace attn::test
