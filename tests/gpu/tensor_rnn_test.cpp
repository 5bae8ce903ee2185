// GRU and LSTM layers on the GPU against the CPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"

namespace attn::test {
namespace {

constexpr std::int64_t kIn = 5;
constexpr std::int64_t kHidden = 7;
constexpr std::int64_t kBatch = 3;

/// Weights of two layers in both directions, as inputs of a function; every second set has no
/// biases.
Tensors draw_weights(std::int64_t gates, DType dtype) {
  Tensors all;
  for (int set = 0; set < 4; ++set) {
    const std::int64_t in = set < 2 ? kIn : 2 * kHidden;
    const std::string name = "weights " + std::to_string(set);
    all.push_back(random_tensor(name, {gates * kHidden, in}).to(dtype));
    all.push_back(random_tensor(name + " hh", {gates * kHidden, kHidden}).to(dtype));
    for (const char* bias : {" b", " c"})
      all.push_back(set % 2 == 0 ? random_tensor(name + bias, {gates * kHidden}).to(dtype)
                                 : Tensor());
  }
  return all;
}

std::vector<RecurrentWeights> sets_of(const Tensors& in) {
  std::vector<RecurrentWeights> sets;
  for (std::size_t i = 0; i < 16; i += 4)
    sets.push_back({in[i], in[i + 1], in[i + 2], in[i + 3]});
  return sets;
}

Tensors draw(std::int64_t gates, std::int64_t steps, DType dtype) {
  Tensors inputs = draw_weights(gates, dtype);
  inputs.push_back(random_tensor("x", {kBatch, steps, kIn}).to(dtype));
  inputs.push_back(random_tensor("state", {4, kBatch, kHidden}).to(dtype));
  inputs.push_back(random_tensor("cell", {4, kBatch, kHidden}).to(dtype));
  return inputs;
}

const Tensor& lengths() {
  static const Tensor kLengths = Tensor::from(std::vector<std::int64_t>{4, 0, 2}, {kBatch});
  return kLengths;
}

TEST(GpuRnn, GruLayersAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const std::int64_t steps : {4, 1, 9}) {
      expect_same_on_gpu(
          named("gru of " + std::to_string(steps), dtype), draw(3, steps, dtype),
          [&](const Tensors& in) {
            const GruResult all = gru(in[16], sets_of(in), Direction::both, in[17],
                                      steps == 4 ? lengths() : Tensor());
            return Tensors{all.out, all.state};
          },
          gpu_tolerance(dtype, 200));
    }
  }
}

TEST(GpuRnn, LstmLayersAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const std::int64_t steps : {4, 1, 9}) {
      expect_same_on_gpu(
          named("lstm of " + std::to_string(steps), dtype), draw(4, steps, dtype),
          [&](const Tensors& in) {
            const LstmResult all = lstm(in[16], sets_of(in), Direction::both, in[17], in[18],
                                        steps == 4 ? lengths() : Tensor());
            return Tensors{all.out, all.state, all.cell};
          },
          gpu_tolerance(dtype, 200));
    }
  }
}

TEST(GpuRnn, CellsAgreeWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const auto sets = draw_weights(3, DType::f32);
  const auto more = draw_weights(4, DType::f32);
  Tensors inputs{sets[0],
                 sets[1],
                 sets[2],
                 sets[3],
                 more[0],
                 more[1],
                 more[2],
                 more[3],
                 random_tensor("x", {kBatch, kIn}).to(DType::f32),
                 random_tensor("state", {kBatch, kHidden}).to(DType::f32),
                 random_tensor("cell", {kBatch, kHidden}).to(DType::f32)};
  expect_same_on_gpu(
      "cells", inputs,
      [](const Tensors& in) {
        const LstmStep step = lstm_cell(in[8], in[9], in[10], {in[4], in[5], in[6], in[7]});
        return Tensors{gru_cell(in[8], in[9], {in[0], in[1], in[2], in[3]}), step.state,
                       step.cell};
      },
      gpu_tolerance(DType::f32, 50));
}

/// What a decoder is tried with.
struct DecoderCase {
  std::int64_t layers = 2;
  std::int64_t steps = 6;
  DType dtype = DType::f32;
  std::int64_t key_dim = 4;
  bool biases = true;
  bool lengths = true;

  std::string text() const {
    return named(std::to_string(layers) + " layers, " + std::to_string(steps) + " steps",
                 dtype) +
           (biases ? "" : ", no biases") + (lengths ? "" : ", no lengths");
  }
  Tensor source_lengths() const {
    return lengths ? Tensor::from(std::vector<std::int64_t>{8, 0, 5}, {kBatch}) : Tensor();
  }
};

std::vector<DecoderCase> decoder_cases() {
  return {{},
          {.layers = 1},
          {.layers = 3, .steps = 3},
          {.layers = 1, .steps = 1},
          {.steps = 0},
          {.dtype = DType::f64},
          {.layers = 1, .dtype = DType::f64},
          {.dtype = DType::bf16},
          {.biases = false},
          {.lengths = false}};
}

constexpr std::size_t kFirstWeight = 9;

/// y, keys, values, state, cell, query, score, join, fed, and the weights of the layers.
Tensors draw_decoder(const DecoderCase& of, std::int64_t gates, std::int64_t more) {
  const auto real = [&](const std::string& name, const Shape& shape) {
    return random_tensor(name, shape).to(of.dtype);
  };
  Tensors all{real("y", {kBatch, of.steps, kIn}),
              real("keys", {kBatch, 8, of.key_dim}),
              real("values", {kBatch, 8, 9}),
              real("state", {of.layers, kBatch, kHidden}),
              real("cell", {of.layers, kBatch, kHidden}),
              real("query", {of.key_dim, kHidden}),
              real("score", {of.key_dim}),
              real("join", {10, 9 + kHidden}),
              real("fed", {kBatch, 10})};
  for (std::int64_t layer = 0; layer < of.layers; ++layer) {
    const std::string name = "weights " + std::to_string(layer);
    const std::int64_t in = layer == 0 ? kIn + more : kHidden;
    all.push_back(real(name, {gates * kHidden, in}));
    all.push_back(real(name + " hh", {gates * kHidden, kHidden}));
    for (const char* bias : {" b", " c"})
      all.push_back(of.biases ? real(name + bias, {gates * kHidden}) : Tensor());
  }
  return all;
}

std::vector<RecurrentWeights> layers_of(const Tensors& in) {
  std::vector<RecurrentWeights> layers;
  for (std::size_t i = kFirstWeight; i < in.size(); i += 4)
    layers.push_back({in[i], in[i + 1], in[i + 2], in[i + 3]});
  return layers;
}

TEST(GpuRnn, BahdanausDecoderAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  for (const DecoderCase& of : decoder_cases())
    for (const InputOrder order : {InputOrder::context_first, InputOrder::embedding_first})
      expect_same_on_gpu(
          "bahdanau_decode of " + of.text(), draw_decoder(of, 3, 9),
          [&](const Tensors& in) {
            const BahdanauResult all =
                bahdanau_decode(in[0], {in[1], in[2], of.source_lengths()}, in[3],
                                {in[5], in[6], layers_of(in), order});
            return Tensors{all.states, all.weights, all.contexts, all.state};
          },
          gpu_tolerance(of.dtype, 200));
}

TEST(GpuRnn, LuongsDecoderAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  enum class Score { dot, general, additive };
  for (DecoderCase of : decoder_cases())
    for (const Score score : {Score::dot, Score::general, Score::additive})
      for (const bool feeds : {false, true}) {
        of.key_dim = score == Score::dot ? kHidden : 4;
        expect_same_on_gpu(
            "luong_decode of " + of.text() + (feeds ? ", feeding" : ""),
            draw_decoder(of, 4, feeds ? 10 : 0),
            [&](const Tensors& in) {
              const LuongResult all =
                  luong_decode(in[0], {in[1], in[2], of.source_lengths()}, in[3], in[4],
                               {score == Score::dot ? Tensor() : in[5],
                                score == Score::additive ? in[6] : Tensor(), layers_of(in),
                                in[7], feeds ? InputFeeding::on : InputFeeding::off},
                               feeds ? in[8] : Tensor());
              return Tensors{all.attentional, all.weights, all.state, all.cell};
            },
            gpu_tolerance(of.dtype, 200));
      }
}

TEST(GpuRnn, DecodersOfOneOutputHaveTheGradientsOfTheCpu) {
  SKIP_WITHOUT_GPU();
  const DecoderCase of;
  for (const int output : {0, 1, 2, 3}) {
    expect_same_on_gpu(
        "bahdanau_decode, output " + std::to_string(output), draw_decoder(of, 3, 9),
        [&](const Tensors& in) {
          const BahdanauResult all =
              bahdanau_decode(in[0], {in[1], in[2], of.source_lengths()}, in[3],
                              {in[5], in[6], layers_of(in), InputOrder::context_first});
          return Tensors{Tensors{all.states, all.weights, all.contexts, all.state}.at(
              static_cast<std::size_t>(output))};
        },
        gpu_tolerance(of.dtype, 200));
    expect_same_on_gpu(
        "luong_decode, output " + std::to_string(output), draw_decoder(of, 4, 10),
        [&](const Tensors& in) {
          const LuongResult all =
              luong_decode(in[0], {in[1], in[2], of.source_lengths()}, in[3], in[4],
                           {in[5], in[6], layers_of(in), in[7], InputFeeding::on});
          return Tensors{Tensors{all.attentional, all.weights, all.state, all.cell}.at(
              static_cast<std::size_t>(output))};
        },
        gpu_tolerance(of.dtype, 200));
  }
}

TEST(GpuRnn, ASourceThatNeedsTooMuchSharedMemoryIsRefused) {
  SKIP_WITHOUT_GPU();
  const auto on_gpu = [](const Shape& shape) {
    return Tensor::zeros(shape, DType::f32, Device::gpu);
  };
  constexpr std::int64_t kKeys = 30000;
  EXPECT_THROW(bahdanau_decode(
                   on_gpu({1, 1, 2}), {on_gpu({1, kKeys, 2}), on_gpu({1, kKeys, 2}), {}},
                   on_gpu({1, 1, 2}),
                   {on_gpu({2, 2}), on_gpu({2}), {{on_gpu({6, 4}), on_gpu({6, 2}), {}, {}}}}),
               Unsupported);
}

}  // namespace
}  // namespace attn::test
