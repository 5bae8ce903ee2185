// C10: a training step of a GRU encoder and decoder with additive attention.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>

#include "attn/core/thread_pool.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/seq2seq/bahdanau_decoder.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/recurrent/rnn_encoder.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "stopwatch.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kSteps = 10;
constexpr std::int64_t kVocabulary = 10'000;
constexpr std::int64_t kHidden = 256;
constexpr std::int64_t kLayers = 2;

class Model : public nn::Module {
 public:
  Model()
      : encoder_(add("encoder", nn::RnnEncoder({.vocabulary = kVocabulary,
                                                .embedding = kHidden,
                                                .hidden = kHidden,
                                                .layers = kLayers}))),
        decoder_(add("decoder", nn::BahdanauDecoder({.vocabulary = kVocabulary,
                                                     .embedding = kHidden,
                                                     .hidden = kHidden,
                                                     .layers = kLayers}))) {}

  Tensor loss(const Tensor& source, const Tensor& target, const Tensor& labels) const {
    const GruResult read = encoder_.forward(source);
    const nn::BahdanauDecoded said = decoder_.forward(read.out, read.state, target);
    return cross_entropy(said.logits, labels);
  }

 private:
  nn::RnnEncoder encoder_;
  nn::BahdanauDecoder decoder_;
};

class Seq2SeqStep : public Workload {
 public:
  explicit Seq2SeqStep(int threads) : threads_(threads), adam_(model_) {
    Random random(3);
    source_ = random_integers({kBatch, kSteps}, 0, kVocabulary, random);
    target_ = random_integers({kBatch, kSteps}, 0, kVocabulary, random);
    labels_ = random_integers({kBatch, kSteps}, 0, kVocabulary, random);
  }

  double seconds(int calls) override {
    ThreadPool::set_default_threads(threads_);
    const Stopwatch watch(threads_);
    for (int call = 0; call < calls; ++call) {
      adam_.zero_grad();
      model_.loss(source_, target_, labels_).backward();
      nn::clip_gradients(model_, 1.0);
      adam_.step(1e-3);
    }
    return watch.seconds() / calls;
  }

 private:
  int threads_;
  Model model_;
  nn::Adam adam_;
  Tensor source_;
  Tensor target_;
  Tensor labels_;
};

}  // namespace

std::unique_ptr<Workload> seq2seq_workload(int threads) {
  nn::seed(1);
  return std::make_unique<Seq2SeqStep>(threads);
}

}  // namespace attn::bench
