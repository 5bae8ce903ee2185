// Rows G7 and G8: training steps on the GPU, with clipping and Adam. Prints name, milliseconds
// of a step and target tokens a second.
//     training_bench [name ...]    gru, gru_tf32, transformer, transformer_bf16; default: all

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::bench {
namespace {

constexpr std::int64_t kBatch = 128;
constexpr double kRate = 1e-4;
constexpr double kClip = 1.0;

Tensor ids(std::int64_t length, std::int64_t vocabulary, Random& random) {
  // 0 and its neighbours have meanings in models.
  return random_integers({kBatch, length}, 4, vocabulary, random);
}

class GruSeq2Seq : public nn::Module {
 public:
  GruSeq2Seq(std::int64_t vocabulary, std::int64_t hidden, std::int64_t layers)
      : encoder_(add("encoder", nn::RnnEncoder({.vocabulary = vocabulary,
                                                .embedding = hidden,
                                                .hidden = hidden,
                                                .layers = layers}))),
        decoder_(add("decoder", nn::BahdanauDecoder({.vocabulary = vocabulary,
                                                     .embedding = hidden,
                                                     .hidden = hidden,
                                                     .layers = layers}))) {}

  Tensor loss(const Tensor& source, const Tensor& target, const Tensor& labels) const {
    const GruResult read = encoder_.forward(source);
    return cross_entropy(decoder_.forward(read.out, read.state, target).logits, labels);
  }

 private:
  nn::RnnEncoder encoder_;
  nn::BahdanauDecoder decoder_;
};

struct Job {
  std::int64_t tokens;  ///< of the targets of a step
  std::function<void()> step;
};

/// G7: two layers of 512, 10,000 words, 30 of them in and out.
Job gru_job(gpu::Products products) {
  constexpr std::int64_t kWords = 10'000;
  constexpr std::int64_t kLength = 30;
  Random random(3);
  const auto model = std::make_shared<GruSeq2Seq>(kWords, 512, 2);
  model->to(Device::gpu);
  const auto adam = std::make_shared<nn::Adam>(*model);
  const auto draw = [&] { return ids(kLength, kWords, random).to(Device::gpu); };
  const Tensor source = draw();
  const Tensor target = draw();
  const Tensor labels = draw();
  return {kBatch * kLength, [=] {
            gpu::set_products(products);
            adam->zero_grad();
            model->loss(source, target, labels).backward();
            nn::clip_gradients(*model, kClip);
            adam->step(kRate);
            gpu::set_products(gpu::Products::full);
          }};
}

/// G8: the base Transformer, 16,000 words, 64 of them in and out.
Job transformer_job(DType dtype) {
  constexpr std::int64_t kWords = 16'000;
  constexpr std::int64_t kLength = 64;
  Random random(3);
  const std::shared_ptr<models::Seq2Seq> model =
      models::make_model({.kind = models::Kind::transformer,
                          .source_vocabulary = kWords,
                          .target_vocabulary = kWords,
                          .dim = 512,
                          .encoder_layers = 6,
                          .decoder_layers = 6,
                          .heads = 8,
                          .feed_forward = 2048,
                          .max_source = kLength,
                          .dropout = 0.1,
                          .positions = models::Positions::sinusoidal,
                          .tie = models::Tie::none});
  model->to(Device::gpu);
  const auto adam = std::make_shared<nn::Adam>(*model);
  if (dtype != DType::f32) adam->keep_masters(dtype);
  const models::Batch batch{
      .source = ids(kLength, kWords, random),
      .source_lengths = Tensor::full({kBatch}, static_cast<double>(kLength), DType::i64),
      .input = ids(kLength, kWords, random),
      .target = ids(kLength, kWords, random)};
  return {kBatch * kLength, [=] {
            adam->zero_grad();
            model->loss(batch, {.smoothing = 0.1}).backward();
            nn::clip_gradients(*model, kClip);
            adam->step(kRate);
          }};
}

double milliseconds(const Job& job, int count) {
  gpu::synchronise();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) job.step();
  gpu::synchronise();
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - begin;
  return took.count() / count;
}

/// The median of rounds of some steps each: a single step is queued while the last one runs.
void report(const std::string& name, const Job& job) {
  constexpr int kRounds = 7;
  constexpr int kSteps = 10;
  milliseconds(job, 5);
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(milliseconds(job, kSteps));
  std::sort(rounds.begin(), rounds.end());
  const double ms = rounds[kRounds / 2];
  std::printf("%s\t%.3f\t%.0f tokens/s\n", name.c_str(), ms,
              static_cast<double>(job.tokens) / ms * 1e3);
  std::fflush(stdout);
}

struct Named {
  const char* name;
  std::function<Job()> make;
};

}  // namespace
}  // namespace attn::bench

int main(int argc, char** argv) {
  using namespace attn;         // NOLINT(google-build-using-namespace)
  using namespace attn::bench;  // NOLINT(google-build-using-namespace)
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const std::vector<Named> jobs{
      {"gru", [] { return gru_job(gpu::Products::full); }},
      {"gru_tf32", [] { return gru_job(gpu::Products::tf32); }},
      {"transformer", [] { return transformer_job(DType::f32); }},
      {"transformer_bf16", [] { return transformer_job(DType::bf16); }}};
  for (const Named& job : jobs) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), job.name) == wanted.end())
      continue;
    nn::seed(1);
    report(job.name, job.make());
  }
}
