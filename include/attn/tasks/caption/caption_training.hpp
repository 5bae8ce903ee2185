/// Training and scoring of caption models on canvases composed of MNIST digits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/models/captioner.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"

namespace attn::tasks {

/// What a training of caption can be told beside TrainingOptions, of which batch_tokens,
/// smoothing and coverage do not matter.
struct CaptionSettings {
  models::CaptionerOptions model;
  models::CaptionLossOptions loss;
  std::int64_t canvases = 32;  ///< of a step
};
nlohmann::json json_of(const CaptionSettings& settings);
/// FileError, which begins with `where`, unless every member is there and in its bounds.
CaptionSettings caption_settings(const nlohmann::json& what, const std::string& where);

/// Learns from canvases of parts->train that never come twice; judged on parts->development.
std::unique_ptr<Learner> caption_learner(const TrainingRun& run,
                                         std::shared_ptr<const DigitParts> parts);

/// Fixed sets of canvases, the first `count` of each.
std::vector<Example> development_canvases(const Digits& development, std::int64_t count);
std::vector<Example> test_canvases(const Digits& test, std::int64_t count);
inline constexpr std::int64_t kTestCanvases = 5000;

/// The part "canvas", the caption and the boxes of its digits.
Example example_of(Canvas canvas, std::size_t index);

/// "exact": captions that are right, "words": words of right captions that stand in their
/// places, "inside": weight of the k-th digit's word that lies in the box of the k-th digit.
/// All of 100.
Scores score_captions(std::span<const Example> canvases, std::span<const Answer> answers);

/// The share of a square grid of weights that lies in a box, weights being spread evenly over
/// cells.
double share_inside(std::span<const float> weights, const Box& box);

}  // namespace attn::tasks
