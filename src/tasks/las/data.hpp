/// The data of the taught transcriber: AN4, spelt words, numbers and commands of 84 speakers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {

/// The parts of an input, one of them: a Sound, or its frames, a Picture kBands high whose
/// first row is the highest band.
inline constexpr const char* kSound = "sound";
inline constexpr const char* kFrames = "log_mel";

/// The table of utterances, and the frames of all of them.
const std::vector<PreparedFile>& prepared_files();

/// Lines of offset into `frames`, count of frames, train or test, speaker, utterance, words.
/// Every tenth of the speakers to learn from, by name, is development. FileError,
/// which begins with `where`, for anything else.
Corpus parse_utterances(std::string_view table, std::string_view frames,
                        const std::string& where);

Picture picture_of(const LogMel& sound);
/// What an input holds; a sound is read and its frames are made.
LogMel frames_of(const Input& input);

}  // namespace attn::tasks::las
