/// What reads a scene: glimpse by glimpse, or all of it at once by convolution.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <span>

#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::look {

inline constexpr std::int64_t kClasses = 10;

/// Who chooses the next place.
enum class Policy { learnt, random };

struct ReaderOptions {
  std::int64_t side = 0;      ///< of the scenes
  std::int64_t glimpses = 0;  ///< of a scene
  std::int64_t patch = 0;     ///< cells on a side of a patch
  std::int64_t scales = 0;    ///< patches of a glimpse, each twice as wide as the last
  std::int64_t what = 0;      ///< numbers that the patches become
  std::int64_t where = 0;     ///< numbers that the place becomes
  std::int64_t hidden = 0;    ///< of the recurrent core
  double sigma = 0.0;         ///< of the places drawn at first, in half sides
  Policy policy = Policy::learnt;
  double reinforce = 1.0;  ///< weight of the losses of the places
  /// Whether the core learns from them, too, and not from the answers alone.
  bool state_learns_places = false;
};

struct Reading {
  Tensor logits;  ///< [batch, steps, classes]: what is said after each glimpse
  Tensor places;  ///< [batch, steps, 2]: x, y in [-1, 1]; no tensor without glimpses
};

class Reader : public nn::Module {
 public:
  virtual ~Reader() = default;

  /// Scenes f32 [batch, 1, side, side], 0 to 1, on device(); labels 0 to 9, one a scene.
  virtual Tensor loss(const Tensor& scenes, std::span<const std::int64_t> labels) const = 0;
  /// Nothing is drawn but the places of Policy::random, by a seed of each scene.
  virtual Reading read(const Tensor& scenes, std::span<const std::uint64_t> seeds) const = 0;
  /// Products of a reading of one scene; the retina's additions count, too.
  virtual std::int64_t multiply_adds() const = 0;
};

/// The recurrent attention model. Mnih, Heess, Graves and Kavukcuoglu, 2014, arXiv:1406.6247:
///   rho_t = glimpse(scene, l_t), g_t = glimpse_network(rho_t, l_t),
///   h_t = relu(input g_t + state h_{t-1}), l_{t+1} ~ N(tanh(W h_t), sigma^2), l_1 = 0.
/// The class is learnt by cross-entropy after every glimpse, half of it after the last one; the
/// places by REINFORCE, the reward of a place being the probability of the right class after
/// it.
std::shared_ptr<Reader> glimpse_reader(const ReaderOptions& options);

/// Four convolutions of stride 2 and two layers, as wide as fits into the cost of the glimpse
/// reader of those options.
std::shared_ptr<Reader> convolution_reader(const ReaderOptions& options);

/// The cost of the glimpse reader of those options: it does not depend on the side.
std::int64_t glimpse_cost(const ReaderOptions& options);

/// One for each picture, from its pixels alone, so that a picture is read the same in any
/// batch.
std::uint64_t seed_of(std::span<const std::uint8_t> pixels);

}  // namespace attn::tasks::look
