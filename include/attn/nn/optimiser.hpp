/// Optimisers: SGD with momentum, Adam, AdamW; clipping; their state can be saved.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/module.hpp"

namespace attn::nn {

/// Changes parameters by their gradients. A parameter without a gradient stays as it is.
class Optimiser {
 public:
  explicit Optimiser(std::vector<NamedTensor> parameters);
  virtual ~Optimiser() = default;

  /// One step at the given rate.
  virtual void step(double rate) = 0;
  void zero_grad();

  /// From now on the parameters hold `dtype`, bf16 or f16, and what steps change are masters of
  /// them in f32: a parameter is its master, rounded. The parameters are f32 before, and belong
  /// to this optimiser alone.
  void keep_masters(DType dtype);
  /// What steps change: the masters if there are any, else the parameters.
  std::vector<NamedTensor> numbers() const;

  /// What must be saved to go on: named after the parameters, "W.weight.mean".
  virtual std::vector<NamedTensor> state() = 0;
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  /// "W.weight.master".
  void add_masters(std::vector<NamedTensor>& state) const;

  std::vector<NamedTensor> parameters_;  // NOLINT(misc-non-private-member-variables-in-classes)
  /// One for each parameter, or none.
  std::vector<Tensor> masters_;  // NOLINT(misc-non-private-member-variables-in-classes)
  std::int64_t steps_ = 0;       // NOLINT(misc-non-private-member-variables-in-classes)
};

struct SgdOptions {
  double momentum = 0.0;
  double weight_decay = 0.0;
};

/// v = momentum v + g; p = p - rate v.
class Sgd : public Optimiser {
 public:
  explicit Sgd(const Module& module, const SgdOptions& options = {});
  void step(double rate) override;
  std::vector<NamedTensor> state() override;

 private:
  SgdOptions options_;
  std::vector<Tensor> velocity_;
};

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;     ///< added to the gradient (Adam)
  double decoupled_decay = 0.0;  ///< taken off the parameter (AdamW)
};

/// Kingma and Ba, 2015, arXiv:1412.6980; with decoupled_decay Loshchilov and Hutter, 2019,
/// arXiv:1711.05101.
class Adam : public Optimiser {
 public:
  explicit Adam(const Module& module, const AdamOptions& options = {});
  void step(double rate) override;
  std::vector<NamedTensor> state() override;

 private:
  AdamOptions options_;
  std::vector<Tensor> mean_;
  std::vector<Tensor> square_;
};

/// Adam with its decay taken off the parameters.
Adam adam_w(const Module& module, double decay = 0.01, AdamOptions options = {});

/// Scales all gradients so that their joint norm is at most `most`; returns the norm before.
double clip_gradients(const Module& module, double most);

}  // namespace attn::nn
