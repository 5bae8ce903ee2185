// Models train on the GPU to the losses of the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kWords = 60;

models::Batch draw_batch(attn::Random& random) {
  const std::int64_t rows = 6;
  const std::int64_t source = 11;
  const std::int64_t steps = 9;
  models::Batch batch{random_integers({rows, source}, 4, kWords, random),
                      random_integers({rows}, 3, source + 1, random),
                      random_integers({rows, steps}, 4, kWords, random),
                      {}};
  batch.input.select(1, 0).fill(static_cast<double>(models::kBos));
  // The target is what is read next; its last place is padding.
  batch.target = Tensor::full({rows, steps}, static_cast<double>(models::kPad), DType::i64);
  batch.target.slice(1, 0, steps - 1).copy_from(batch.input.slice(1, 1, steps));
  return batch;
}

std::vector<double> train(const models::ModelOptions& options, Device device, int steps,
                          DType dtype = DType::f32) {
  nn::seed(3);
  const std::shared_ptr<models::Seq2Seq> model = models::make_model(options);
  model->to(device);
  nn::Adam optimiser = nn::adam_w(*model, 0.01);
  if (dtype != DType::f32) optimiser.keep_masters(dtype);
  attn::Random random(21);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor loss = model->loss(draw_batch(random), {.smoothing = 0.1});
    optimiser.zero_grad();
    loss.backward();
    nn::clip_gradients(*model, 1.0);
    optimiser.step(1e-3);
    losses.push_back(loss.item());
  }
  return losses;
}

void expect_same_losses(const models::ModelOptions& options) {
  constexpr int kSteps = 100;
  const std::vector<double> want = train(options, Device::cpu, kSteps);
  // Gradients of tables, here of distances and centres, are added as they come.
  if (options.positions != models::Positions::relative &&
      options.locality != models::Locality::predictive)
    gpu::set_determinism(gpu::Determinism::repeatable);
  const std::vector<double> got = train(options, Device::gpu, kSteps);
  gpu::set_determinism(gpu::Determinism::fast);
  expect_losses_near(got, want,
                     models::option_values("kind").at(static_cast<std::size_t>(options.kind)));
}

models::ModelOptions small() {
  models::ModelOptions options;
  options.source_vocabulary = kWords;
  options.target_vocabulary = kWords;
  options.dim = 32;
  options.heads = 4;
  options.feed_forward = 64;
  options.encoder_layers = 2;
  options.decoder_layers = 2;
  options.positions = models::Positions::sinusoidal;
  return options;
}

TEST(GpuModels, ATransformerGivesTheLossesOfTheCpu) {
  SKIP_WITHOUT_GPU();
  expect_same_losses(small());
}

TEST(GpuModels, WithRotaryPositionsToo) {
  SKIP_WITHOUT_GPU();
  models::ModelOptions options = small();
  options.positions = models::Positions::rotary;
  expect_same_losses(options);
}

TEST(GpuModels, RecurrentAndConvolutionalOnesToo) {
  SKIP_WITHOUT_GPU();
  for (const models::Kind kind : {models::Kind::rnn, models::Kind::bahdanau,
                                  models::Kind::luong, models::Kind::convolutional}) {
    SCOPED_TRACE(static_cast<int>(kind));
    models::ModelOptions options = small();
    options.kind = kind;
    expect_same_losses(options);
  }
}

TEST(GpuModels, EveryOptionToo) {
  SKIP_WITHOUT_GPU();
  using Options = std::vector<std::pair<const char*, const char*>>;
  for (const Options& chosen : {
           Options{{"kind", "transformer"}, {"positions", "relative"}},
           {{"kind", "transformer"}, {"copy", "pointer"}, {"tie", "all"}},
           {{"kind", "transformer"}, {"copy", "coverage"}, {"tie", "output"}},
           {{"kind", "luong"}, {"score", "dot"}, {"feeding", "off"}},
           {{"kind", "luong"}, {"score", "concat"}, {"reach", "local-m"}, {"window", "2"}},
           {{"kind", "luong"}, {"score", "location"}, {"feeding", "on"}},
           {{"kind", "luong"}, {"score", "general"}, {"reach", "local-p"}, {"window", "2"}},
           {{"kind", "luong"}, {"score", "concat"}, {"reach", "local-p"}},
           {{"kind", "bahdanau"}, {"copy", "coverage"}},
           {{"kind", "bahdanau"}, {"copy", "pointer"}, {"word_dropout", "0.1"}},
           {{"kind", "convolutional"}, {"kernel", "5"}, {"dropout", "0.1"}},
       }) {
    models::ModelOptions options = small();
    std::string names;
    for (const auto& [name, value] : chosen) {
      models::set_option(options, name, value);
      (names += name) += std::string("=") + value + " ";
    }
    SCOPED_TRACE(names);
    expect_same_losses(options);
  }
}

TEST(GpuModels, AllOfThemLearnInBf16AsInF32) {
  SKIP_WITHOUT_GPU();
  constexpr int kSteps = 100;
  const auto expect_near = [](const models::ModelOptions& options, double share) {
    const std::vector<double> want = train(options, Device::gpu, kSteps);
    const std::vector<double> got = train(options, Device::gpu, kSteps, DType::bf16);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], share * want[i]) << "step " << i;
  };
  for (const models::Kind kind :
       {models::Kind::rnn, models::Kind::bahdanau, models::Kind::luong,
        models::Kind::convolutional, models::Kind::transformer}) {
    SCOPED_TRACE(static_cast<int>(kind));
    models::ModelOptions options = small();
    options.kind = kind;
    expect_near(options, 0.05);
  }
  models::ModelOptions options = small();
  options.positions = models::Positions::rotary;
  options.copy = models::Copy::pointer;
  options.tie = models::Tie::all;
  expect_near(options, 0.1);
}

}  // namespace
}  // namespace attn::test
