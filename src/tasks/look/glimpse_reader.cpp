// The recurrent attention model, put together from the mechanisms of its paper.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_network.hpp"
#include "attn/nn/mechanisms/glimpse/glimpse_policy.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/look/reader.hpp"

namespace attn::tasks::look {
namespace {

constexpr std::int64_t kScale = 2;  ///< from one patch to the next
/// Share of the loss that is the answer after the last glimpse; after all of them the rest.
constexpr double kLastShare = 0.5;
/// The spread of the places tried falls to 1 / sqrt(2) over so many lessons.
constexpr double kSigmaLessons = 4000.0;

std::int64_t cells_of(const ReaderOptions& options) {
  return options.scales * options.patch * options.patch;
}

/// What was said is kept until it is changed, so a core begins by identity_core. Le, Jaitly and
/// Hinton, 2015, arXiv:1504.00941.
nn::Linear identity_core(std::int64_t size) {
  nn::Linear made = nn::without_bias(size, size);
  std::vector<float> identity(static_cast<std::size_t>(size * size), 0.0f);
  for (std::int64_t i = 0; i < size; ++i)
    identity[static_cast<std::size_t>(i * size + i)] = 1.0f;
  const NoGrad off_the_tape;
  Tensor weight = made.weight();
  weight.copy_from(Tensor::from(identity, {size, size}));
  return made;
}

class GlimpseReader final : public Reader {
 public:
  explicit GlimpseReader(const ReaderOptions& options)
      : options_(options),
        network_(add("glimpse_network", nn::GlimpseNetwork({.glimpse_dim = cells_of(options),
                                                            .glimpse_hidden = options.what,
                                                            .location_hidden = options.where,
                                                            .out_dim = options.hidden}))),
        input_(add("input", nn::Linear({.in = options.hidden, .out = options.hidden}))),
        state_(add("state", identity_core(options.hidden))),
        policy_(
            add("policy", nn::GlimpsePolicy({.hidden_dim = options.hidden,
                                             .sigma = options.sigma,
                                             .state_gradient = options.state_learns_places
                                                                   ? nn::StateGradient::on
                                                                   : nn::StateGradient::off}))),
        out_(add("out", nn::Linear({.in = options.hidden, .out = kClasses}))),
        lessons_(add_buffer("lessons", Tensor::zeros({1}))) {}

  Tensor loss(const Tensor& scenes, std::span<const std::int64_t> labels) const override {
    const double sigma = next_sigma();
    const Walk walk = go(scenes, [&](const Tensor& hidden) {
      return options_.policy == Policy::learnt
                 ? policy_.draw(hidden, nn::random(), sigma)
                 : uniform({hidden.size(0), 2}, -1.0, 1.0, nn::random(), hidden.dtype(),
                           hidden.device());
    });
    const Tensor logits = out_(walk.hidden);
    const Tensor targets = targets_of(labels).to(device());
    const Tensor last = cross_entropy(logits.select(1, options_.glimpses - 1),
                                      targets.select(1, options_.glimpses - 1).contiguous());
    Tensor right = cross_entropy(logits, targets) * (1.0 - kLastShare) + last * kLastShare;
    if (options_.policy == Policy::random || options_.glimpses == 1) return right;
    const auto places = options_.glimpses - 1;
    const nn::GlimpsePolicyResult policy =
        policy_.forward(walk.hidden.slice(1, 0, places), walk.places.slice(1, 1, places + 1),
                        rewards(logits, targets).to(walk.hidden.dtype()), sigma);
    const Tensor places_loss = (policy.reinforce_loss + policy.baseline_loss).squeeze(0);
    return right + places_loss.to(right.dtype()) * options_.reinforce;
  }

  Reading read(const Tensor& scenes, std::span<const std::uint64_t> seeds) const override {
    std::vector<Random> streams;
    for (const std::uint64_t seed : seeds) streams.emplace_back(seed);
    const Walk walk = go(scenes, [&](const Tensor& hidden) {
      if (options_.policy == Policy::learnt) return policy_.mean(hidden);
      std::vector<Tensor> places;
      places.reserve(streams.size());
      for (Random& stream : streams) places.push_back(uniform({2}, -1.0, 1.0, stream));
      return stack(places, 0).to(hidden.dtype()).to(hidden.device());
    });
    return {out_(walk.hidden), walk.places};
  }

  std::int64_t multiply_adds() const override { return glimpse_cost(options_); }

 private:
  struct Walk {
    Tensor hidden;  ///< [batch, glimpses, hidden]
    Tensor places;  ///< [batch, glimpses, 2]
  };

  /// Wide at first, when nothing is known, then as sharp as what was learnt. The count is saved
  /// with a checkpoint, so that a run that is resumed goes on as if it had not ended.
  double next_sigma() const {
    const double before = lessons_.item();
    const NoGrad off_the_tape;
    Tensor lessons = lessons_;
    lessons.fill(before + 1.0);
    return options_.sigma / std::sqrt(1.0 + before / kSigmaLessons);
  }

  /// next(state) is where to look after it.
  template <class Next>
  Walk go(const Tensor& scenes, const Next& next) const {
    const DType dtype = out_.weight().dtype();
    const std::int64_t batch = scenes.size(0);
    Tensor hidden = Tensor::zeros({batch, options_.hidden}, dtype, device());
    Tensor place = Tensor::zeros({batch, 2}, dtype, device());
    std::vector<Tensor> states;
    std::vector<Tensor> places;
    for (std::int64_t t = 0; t < options_.glimpses; ++t) {
      const Tensor seen =
          nn::glimpse(
              scenes, place,
              {.patch_size = options_.patch, .num_scales = options_.scales, .scale = kScale})
              .to(dtype)
              .reshape({batch, cells_of(options_)});
      hidden = relu(input_(network_.forward(seen, place)) + state_(hidden));
      states.push_back(hidden);
      places.push_back(place);
      if (t + 1 < options_.glimpses) place = next(hidden).detach();
    }
    return {stack(states, 1), stack(places, 1)};
  }

  /// [batch, glimpses].
  Tensor targets_of(std::span<const std::int64_t> labels) const {
    std::vector<std::int64_t> all;
    all.reserve(labels.size() * static_cast<std::size_t>(options_.glimpses));
    for (const std::int64_t label : labels)
      all.insert(all.end(), static_cast<std::size_t>(options_.glimpses), label);
    return Tensor::from(all, {static_cast<std::int64_t>(labels.size()), options_.glimpses});
  }

  /// Of each place but the first: the probability of the right class, half of it after the last
  /// glimpse and half on average from that place on. [batch, glimpses - 1]. A probability tells
  /// more than whether the answer was right, and a place is rewarded for nothing before it.
  Tensor rewards(const Tensor& logits, const Tensor& targets) const {
    const NoGrad off_the_tape;
    const auto steps = static_cast<std::size_t>(options_.glimpses);
    std::vector<float> shares(steps * (steps - 1), 0.0f);
    for (std::size_t place = 0; place + 1 < steps; ++place) {
      for (std::size_t step = place + 1; step < steps; ++step)
        shares[step * (steps - 1) + place] =
            static_cast<float>(1.0 - kLastShare) / static_cast<float>(steps - 1 - place);
      shares[(steps - 1) * (steps - 1) + place] += static_cast<float>(kLastShare);
    }
    const Tensor mix =
        Tensor::from(shares, {options_.glimpses, options_.glimpses - 1}).to(device());
    const Tensor log_probs = log_softmax(logits.detach().to(DType::f32));
    return matmul(exp(gather(log_probs, 2, targets.unsqueeze(2)).squeeze(2)), mix);
  }

  ReaderOptions options_;
  nn::GlimpseNetwork network_;
  nn::Linear input_;
  nn::Linear state_;
  nn::GlimpsePolicy policy_;
  nn::Linear out_;
  Tensor lessons_;  ///< [1]: how many were learnt from
};

}  // namespace

std::int64_t glimpse_cost(const ReaderOptions& options) {
  std::int64_t retina = 0;
  std::int64_t block = 1;
  for (std::int64_t scale = 0; scale < options.scales; ++scale, block *= kScale * kScale)
    retina += options.patch * options.patch * block;
  const std::int64_t network = cells_of(options) * options.what + 2 * options.where +
                               (options.what + options.where) * options.hidden;
  const std::int64_t core = 2 * options.hidden * options.hidden;
  const std::int64_t ends = (kClasses + 2) * options.hidden;
  // Nothing is looked at after the last glimpse, so its place is not asked for.
  return options.glimpses * (retina + network + core + ends) - 2 * options.hidden;
}

std::uint64_t seed_of(std::span<const std::uint8_t> pixels) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::uint8_t pixel : pixels) hash = (hash ^ pixel) * 0x100000001b3u;
  return hash;
}

std::shared_ptr<Reader> glimpse_reader(const ReaderOptions& options) {
  return std::make_shared<GlimpseReader>(options);
}

}  // namespace attn::tasks::look
