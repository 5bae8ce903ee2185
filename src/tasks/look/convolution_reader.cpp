// The baseline of look: a convolutional net that costs as much as a path of glimpses.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/nn/conv.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/look/reader.hpp"

namespace attn::tasks::look {
namespace {

constexpr std::int64_t kLayerOut = 64;

struct Layer {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
};

/// Of a net whose first layer has `width` channels.
std::vector<Layer> layers_of(std::int64_t width) {
  return {{1, width, 5},
          {width, 2 * width, 3},
          {2 * width, 4 * width, 3},
          {4 * width, 4 * width, 3}};
}

std::int64_t half_of(std::int64_t side) {
  return (side + 1) / 2;
}

/// Numbers behind the last convolution.
std::int64_t features_of(std::int64_t width, std::int64_t side) {
  for (std::size_t i = 0; i < layers_of(width).size(); ++i) side = half_of(side);
  return layers_of(width).back().out * side * side;
}

std::int64_t cost_of(std::int64_t width, std::int64_t side) {
  std::int64_t cost = features_of(width, side) * kLayerOut + kLayerOut * kClasses;
  for (const Layer& layer : layers_of(width)) {
    side = half_of(side);
    cost += side * side * layer.out * layer.in * layer.kernel * layer.kernel;
  }
  return cost;
}

/// The widest net that costs no more; the narrowest there is where all do.
std::int64_t width_for(std::int64_t cost, std::int64_t side) {
  std::int64_t width = 1;
  while (cost_of(width + 1, side) <= cost) ++width;
  return width;
}

/// As large behind a ReLU as before it. He et al., 2015, arXiv:1502.01852.
nn::Conv2d conv(const Layer& layer) {
  nn::Conv2d made({.in = layer.in, .out = layer.out, .kernel = layer.kernel},
                  {.stride = {2, 2}, .pad = {layer.kernel / 2, layer.kernel / 2}});
  const NoGrad off_the_tape;
  Tensor weight = nn::find_tensor(made.named_parameters(), "weight");
  weight.copy_from(weight * std::sqrt(6.0));
  return made;
}

class ConvolutionReader final : public Reader {
 public:
  explicit ConvolutionReader(const ReaderOptions& options)
      : side_(options.side),
        width_(width_for(glimpse_cost(options), options.side)),
        hidden_(add("hidden",
                    nn::Linear({.in = features_of(width_, options.side), .out = kLayerOut}))),
        out_(add("out", nn::Linear({.in = kLayerOut, .out = kClasses}))) {
    for (const Layer& layer : layers_of(width_))
      convolutions_.push_back(
          add("convolution" + std::to_string(convolutions_.size() + 1), conv(layer)));
  }

  Tensor loss(const Tensor& scenes, std::span<const std::int64_t> labels) const override {
    const Tensor targets = Tensor::from(labels, {static_cast<std::int64_t>(labels.size())});
    return cross_entropy(logits_of(scenes), targets.to(device()));
  }

  Reading read(const Tensor& scenes, std::span<const std::uint64_t>) const override {
    return {logits_of(scenes).unsqueeze(1), {}};
  }

  std::int64_t multiply_adds() const override { return cost_of(width_, side_); }

 private:
  Tensor logits_of(const Tensor& scenes) const {
    Tensor x = scenes.to(out_.weight().dtype());
    for (const nn::Conv2d& convolution : convolutions_) x = relu(convolution(x));
    return out_(relu(hidden_(x.flatten(1, 3))));
  }

  std::int64_t side_;
  std::int64_t width_;
  std::vector<nn::Conv2d> convolutions_;
  nn::Linear hidden_;
  nn::Linear out_;
};

}  // namespace

std::shared_ptr<Reader> convolution_reader(const ReaderOptions& options) {
  return std::make_shared<ConvolutionReader>(options);
}

}  // namespace attn::tasks::look
