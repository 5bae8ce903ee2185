// GRU and LSTM layers on the GPU against the CPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
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

/// y, keys, values, state, cell, query, score, join, fed, and weights of two layers.
Tensors draw_decoder(std::int64_t gates, std::int64_t more) {
  const auto real = [](const char* name, const Shape& shape) {
    return random_tensor(name, shape).to(DType::f32);
  };
  Tensors all{real("y", {kBatch, 6, kIn}),
              real("keys", {kBatch, 8, 4}),
              real("values", {kBatch, 8, 9}),
              real("state", {2, kBatch, kHidden}),
              real("cell", {2, kBatch, kHidden}),
              real("query", {4, kHidden}),
              real("score", {4}),
              real("join", {10, 9 + kHidden}),
              real("fed", {kBatch, 10})};
  for (const std::int64_t in : {kIn + more, kHidden})
    for (const Shape& shape : {Shape{gates * kHidden, in}, Shape{gates * kHidden, kHidden},
                               Shape{gates * kHidden}, Shape{gates * kHidden}})
      all.push_back(real(("weights " + std::to_string(all.size())).c_str(), shape));
  return all;
}

std::vector<RecurrentWeights> layers_of(const Tensors& in) {
  return {{in[9], in[10], in[11], in[12]}, {in[13], in[14], in[15], in[16]}};
}

TEST(GpuRnn, BahdanausDecoderAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{8, 0, 5}, {kBatch});
  for (const InputOrder order : {InputOrder::context_first, InputOrder::embedding_first})
    expect_same_on_gpu(
        "bahdanau_decode", draw_decoder(3, 9),
        [&](const Tensors& in) {
          const BahdanauResult all = bahdanau_decode(in[0], {in[1], in[2], lengths}, in[3],
                                                     {in[5], in[6], layers_of(in), order});
          return Tensors{all.states, all.weights, all.contexts, all.state};
        },
        gpu_tolerance(DType::f32, 200));
}

TEST(GpuRnn, LuongsDecoderAgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Tensor lengths = Tensor::from(std::vector<std::int64_t>{8, 0, 5}, {kBatch});
  for (const bool additive : {false, true})
    for (const bool feeds : {false, true})
      expect_same_on_gpu(
          "luong_decode", draw_decoder(4, feeds ? 10 : 0),
          [&](const Tensors& in) {
            const LuongResult all =
                luong_decode(in[0], {in[1], in[2], lengths}, in[3], in[4],
                             {in[5], additive ? in[6] : Tensor(), layers_of(in), in[7],
                              feeds ? InputFeeding::on : InputFeeding::off},
                             feeds ? in[8] : Tensor());
            return Tensors{all.attentional, all.weights, all.state, all.cell};
          },
          gpu_tolerance(DType::f32, 200));
}

}  // namespace
}  // namespace attn::test
