/// Training and scoring of caption models on canvases composed of MNIST digits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::tasks {

/// What a run was asked to do, kept in its folder as training.json so that it can go on.
struct CaptionRequest {
  models::CaptionerOptions model;
  models::CaptionLossOptions loss;
  TrainingOptions training;     ///< batch_tokens, smoothing and coverage do not matter
  std::int64_t canvases = 32;   ///< of a step
  std::filesystem::path begin;  ///< a model whose weights it begins with; empty: fresh ones
  std::string command;          ///< that began it, for the card of the model
};

/// What is asked for when nothing is said.
CaptionRequest default_caption_request(models::Looking looking);

void save_caption_request(const std::filesystem::path& folder, const CaptionRequest& request);
/// FileError when the folder has none, or a damaged one.
CaptionRequest load_caption_request(const std::filesystem::path& folder);

struct CaptionPlan {
  CaptionRequest request;
  Budget budget;
  std::filesystem::path folder;
  Resume resume = Resume::no;
  std::int64_t save_every = 0;    ///< steps; 0: by the clock
  std::uint64_t shard_bytes = 0;  ///< of a checkpoint's files, at most; 0: one file
  Device device = Device::cpu;    ///< of the steps; evaluations run on the CPU
  DType precision = DType::f32;   ///< of the steps; bf16 on the GPU alone
};

/// Trains on canvases of parts.train that never come twice, keeps the best on parts.development
/// in the folder. A killed run goes on bit for bit.
Trained train_caption(const CaptionPlan& plan, const DigitParts& parts, const Watch& watch);

/// Fixed sets of canvases, the first `count` of each.
std::vector<Canvas> development_canvases(const Digits& development, std::int64_t count);
std::vector<Canvas> test_canvases(const Digits& test, std::int64_t count);
inline constexpr std::int64_t kTestCanvases = 5000;

/// "exact": captions that are right, "words": words of right captions that stand in their
/// places, "inside": weight of the k-th digit's word that lies in the box of the k-th digit.
/// All of 100.
Scores score_captions(std::span<const Canvas> canvases, std::span<const Answer> answers);

/// The share of a square grid of weights that lies in a box, weights being spread evenly over
/// cells.
double share_inside(std::span<const float> weights, const PlacedDigit& box);

}  // namespace attn::tasks
