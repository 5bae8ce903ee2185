/// Decoding for a model that carries a state from step to step.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>

#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

/// The model has a type State with `select(rows)`, and `Prediction step(tokens, State&) const`.
/// One that can be steered has `Steering steering` in its state.
template <class Model>
class CachedDecoding final : public Decoding {
 public:
  CachedDecoding(const Model& model, typename Model::State state)
      : model_(model), state_(std::move(state)) {}

  Prediction step(const Tensor& tokens) override {
    const NoGrad off_the_tape;
    return model_.step(tokens, state_);
  }
  void select(const Tensor& rows) override {
    const NoGrad off_the_tape;
    state_.select(rows);
  }
  void steer(const Steering& steering) override {
    if constexpr (requires { state_.steering; }) {
      state_.steering = steering;
    } else {
      Decoding::steer(steering);
    }
  }

 private:
  const Model& model_;
  typename Model::State state_;
};

/// A model that decodes so. Its state begins with `State begin(source, lengths) const`.
template <class Model>
class CachedModel : public Seq2Seq {
 public:
  std::unique_ptr<Decoding> decode(const Tensor& source, const Tensor& lengths) const override {
    const NoGrad off_the_tape;
    const auto& model = static_cast<const Model&>(*this);
    return std::make_unique<CachedDecoding<Model>>(model, model.begin(source, lengths));
  }

 private:
  friend Model;
  CachedModel() = default;
};

}  // namespace attn::models
