// Draws random specs of attention problems for property tests.

#include <array>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>

#include "kernels/support/problem.hpp"
#include "support/random.hpp"

namespace attn::test {

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
  spec.keep = flip(2);
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
  out << " }, d_stat " << spec.d_stat << ", d_weights " << spec.d_weights << ", keep "
      << spec.keep;
  return out.str();
}

}  // namespace attn::test
