/// The loop that every training runs: steps, evaluations, checkpoints, a log. What is learnt,
/// and from what, is a Learner's.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

class Learner {
 public:
  virtual ~Learner() = default;

  virtual nn::Module& module() = 0;
  /// Makes the steps of an epoch, a function of the epoch alone, and tells how many there are.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;

  struct Lesson {
    Tensor loss;
    std::int64_t tokens = 0;  ///< of the targets
  };
  /// The loss of a step of the epoch. Draws come from nn::random() alone.
  virtual Lesson learn(std::int64_t step) = 0;

  /// A development example and what the model says to it now, for who watches.
  struct Sample {
    std::string source;
    std::string answer;
    std::string target;  ///< a right one
  };
  struct Evaluation {
    Scores scores;
    std::vector<Sample> samples;  ///< a few, the same ones each time
  };
  /// On the development part; the module is in eval().
  virtual Evaluation evaluate() = 0;
  virtual bool better(const Scores& a, const Scores& b) const = 0;
  /// Writes the model as it is into the plan's folder, with how it was trained, a JSON object.
  virtual void keep(const std::string& history) = 0;
};

struct LoopPlan {
  TrainingOptions options;
  Budget budget;
  std::filesystem::path folder;  ///< of checkpoint.safetensors and log.jsonl
  std::string what;              ///< a checkpoint of something else is refused
  std::string command;
  std::string data = "{}";  ///< for the card of the model, a JSON object
  Resume resume = Resume::no;
  std::int64_t save_every = 0;    ///< steps; 0: by the clock
  std::uint64_t shard_bytes = 0;  ///< of a checkpoint's files, at most; 0: one file
  Device device = Device::cpu;    ///< of the steps; evaluations run on the CPU
  /// Of parameters and activations in the steps: f32, or bf16 on the GPU, where the optimiser
  /// keeps masters in f32.
  DType precision = DType::f32;
};

/// What it does depends on plan and learner alone; a killed run goes on bit for bit.
Trained run_training(Learner& learner, const LoopPlan& plan, const Watch& watch);

}  // namespace attn::tasks
