// The composite against plain loops in double that know nothing of the library.

#include "attn/nn/mechanisms/composed/non_local_transformer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "support/tolerance.hpp"

namespace attn::nn {
namespace {

constexpr std::size_t kPlaces = 3;
constexpr std::size_t kDim = 4;
constexpr std::size_t kInner = 2;
constexpr std::size_t kHeads = 2;
constexpr std::size_t kHidden = 5;

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Row numbers(const NonLocalTransformer& theta, const std::string& name) {
  return find_tensor(theta.named_parameters(), name).to_vector<double>();
}

/// W x + b of each row, rows [first, first + out) of W.
Rows mapped(const Rows& x, const Row& weight, const Row& bias, std::size_t first,
            std::size_t out) {
  Rows result;
  for (const Row& row : x) {
    Row one;
    for (std::size_t o = first; o < first + out; ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < row.size(); ++i) sum += weight[o * row.size() + i] * row[i];
      one.push_back(sum);
    }
    result.push_back(one);
  }
  return result;
}

/// softmax(scale q k) v over the channels [first, last) of each.
Rows looked(const Rows& q, const Rows& k, const Rows& v, double scale, std::size_t first,
            std::size_t last) {
  Rows result;
  for (const Row& query : q) {
    Row weights;
    double total = 0.0;
    for (const Row& key : k) {
      double score = 0.0;
      for (std::size_t c = first; c < last; ++c) score += query[c] * key[c];
      weights.push_back(std::exp(scale * score));
      total += weights.back();
    }
    Row one;
    for (std::size_t c = first; c < last; ++c) {
      double sum = 0.0;
      for (std::size_t j = 0; j < v.size(); ++j) sum += weights[j] / total * v[j][c];
      one.push_back(sum);
    }
    result.push_back(one);
  }
  return result;
}

Rows added(const Rows& a, const Rows& b) {
  Rows sum = a;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t c = 0; c < a[i].size(); ++c) sum[i][c] += b[i][c];
  return sum;
}

Rows normed(const Rows& x, const Row& weight, const Row& bias) {
  Rows result = x;
  for (Row& row : result) {
    double centre = 0.0;
    double spread = 0.0;
    for (const double number : row) centre += number / static_cast<double>(row.size());
    for (const double number : row)
      spread += (number - centre) * (number - centre) / static_cast<double>(row.size());
    for (std::size_t c = 0; c < row.size(); ++c)
      row[c] = (row[c] - centre) / std::sqrt(spread + 1e-5) * weight[c] + bias[c];
  }
  return result;
}

Rows block(const NonLocalTransformer& theta, const std::string& name, const Rows& x) {
  const auto part = [&](const char* map, const Rows& in, std::size_t out) {
    return mapped(in, numbers(theta, name + map + ".weight"),
                  numbers(theta, name + map + ".bias"), 0, out);
  };
  const Rows y = looked(part(".theta", x, kInner), part(".phi", x, kInner),
                        part(".g", x, kInner), 1.0, 0, kInner);
  return added(x, part(".W_z", y, kDim));
}

Rows layer(const NonLocalTransformer& theta, const Rows& x) {
  const auto of = [&](const std::string& name) { return numbers(theta, "layer." + name); };
  const Row in = of("self_attn.in_proj_weight");
  const Row in_bias = of("self_attn.in_proj_bias");
  const Rows q = mapped(x, in, in_bias, 0, kDim);
  const Rows k = mapped(x, in, in_bias, kDim, kDim);
  const Rows v = mapped(x, in, in_bias, 2 * kDim, kDim);
  constexpr std::size_t kShare = kDim / kHeads;
  Rows heads(kPlaces);
  for (std::size_t head = 0; head < kHeads; ++head) {
    const Rows one = looked(q, k, v, 1.0 / std::sqrt(static_cast<double>(kShare)),
                            head * kShare, (head + 1) * kShare);
    for (std::size_t i = 0; i < kPlaces; ++i)
      heads[i].insert(heads[i].end(), one[i].begin(), one[i].end());
  }
  const Rows self =
      mapped(heads, of("self_attn.out_proj.weight"), of("self_attn.out_proj.bias"), 0, kDim);
  const Rows h = normed(added(x, self), of("norm1.weight"), of("norm1.bias"));
  Rows hidden = mapped(h, of("linear1.weight"), of("linear1.bias"), 0, kHidden);
  for (Row& row : hidden)
    for (double& number : row) number = std::max(number, 0.0);
  const Rows feed = mapped(hidden, of("linear2.weight"), of("linear2.bias"), 0, kDim);
  return normed(added(h, feed), of("norm2.weight"), of("norm2.bias"));
}

TEST(NonLocalTransformer, IsWhatPlainLoopsCompute) {
  seed(1);
  const NonLocalTransformer theta(
      {.dim = kDim, .inner = kInner, .heads = kHeads, .feed_forward_dim = kHidden});
  theta.to(DType::f64);
  Random random(2);
  {
    const NoGrad off_the_tape;
    for (Tensor parameter : theta.parameters())
      parameter.copy_from(normal(parameter.shape(), 0.0, 0.7, random, DType::f64));
  }
  const Tensor x = normal({1, kPlaces, kDim}, 0.0, 1.0, random, DType::f64);
  const auto flat = x.to_vector<double>();
  Rows rows(kPlaces, Row(kDim));
  for (std::size_t i = 0; i < kPlaces; ++i)
    for (std::size_t c = 0; c < kDim; ++c) {
      const auto pair = static_cast<double>(c / 2 * 2);
      const double angle =
          static_cast<double>(i) / std::pow(10000.0, pair / static_cast<double>(kDim));
      rows[i][c] = flat[i * kDim + c] + (c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  const Rows want = layer(theta, block(theta, "tau", block(theta, "sigma", rows)));
  const auto got = theta.forward(x).output.to_vector<double>();
  for (std::size_t i = 0; i < kPlaces; ++i)
    for (std::size_t c = 0; c < kDim; ++c)
      EXPECT_NEAR(got[i * kDim + c], want[i][c], test::kDoubleScore) << i << ", " << c;
}

TEST(NonLocalTransformer, BlocksBeginAsTheIdentity) {
  seed(3);
  const NonLocalTransformer theta({.dim = 4, .inner = 2, .heads = 2, .feed_forward_dim = 5});
  const Tensor x = uniform({2, 3, 4}, -1.0, 1.0, random());
  const NonLocalTransformerResult made = theta.forward(x, Want::output | Want::weights);
  EXPECT_EQ(made.output.shape(), x.shape());
  EXPECT_EQ(made.sigma_weights.to_vector<float>().size(), 2u * 3u * 3u);
  EXPECT_FALSE(theta.forward(x).tau_weights.defined());
}

}  // namespace
}  // namespace attn::nn
