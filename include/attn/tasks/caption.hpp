/// Captions of pictures: a trained model as a folder holds it, what it says of a canvas, and
/// where it looked.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// A folder holds config.json and model.safetensors, as that of other models does.
struct CaptionModel {
  std::shared_ptr<models::Captioner> model;
  std::string history = "{}";  ///< how it was trained and what it scored, a JSON object
};

/// A model with fresh weights, drawn from nn::random(). The vocabulary is the grammar's.
CaptionModel make_caption_model(models::CaptionerOptions options);

/// Everything is checked before it is used: a damaged file, words that are not the grammar's,
/// sizes that do not fit are a FileError that names the file. The model is in eval() and f32.
CaptionModel load_caption_model(const std::filesystem::path& folder);

/// Each file is replaced atomically, the weights last.
void save_caption_model(const std::filesystem::path& folder, const CaptionModel& model,
                        DType dtype = DType::bf16);

/// What a model reads: [canvases, 64, 64], 0 to 1.
Tensor canvas_tensor(std::span<const std::vector<std::uint8_t>> canvases);

/// What the model says of canvases, each 64 * 64 bytes: 0 is background and 255 ink. The tokens
/// of an answer are words of the grammar, its weights those of a square grid of places, row by
/// row, for each word and then for the end, and its "gates" how much each of them took in.
std::vector<Answer> caption(const CaptionModel& model,
                            std::span<const std::vector<std::uint8_t>> canvases);

/// The weights of one step: [grid, grid].
std::span<const float> caption_weights(const Answer& answer, std::size_t step);

/// The overlay: a step for each word.
maps::Map caption_map(const Answer& answer, const std::vector<std::uint8_t>& canvas,
                      models::Looking looking);

/// A grey picture of any size as a canvas. A light background (the middle value of the rim) is
/// turned dark and contrast is stretched. The picture is fitted into the canvas; if what is on
/// it is then far larger or smaller than the digits a model learns from, it is fitted by its
/// ink. One that already is a dark 64 × 64 with things of that size stays as it is.
std::vector<std::uint8_t> fit_to_canvas(std::span<const std::uint8_t> grey, std::int64_t width,
                                        std::int64_t height);

}  // namespace attn::tasks
