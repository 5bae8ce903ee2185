/// HearingModel: what every model of transcribe does with what it heard, whatever network
/// hears.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"

namespace attn::tasks {

/// A subclass hears; replies, JSON, captions and maps are made here. An answer has its text,
/// its segments as `output` (begin, end, text), and its words as `table` (word, begin, end),
/// both in seconds. `numbers` has "seconds" of the sound and of the work.
class HearingModel : public Model {
 public:
  const Task& task() const override;
  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs, const Choices& choices,
                            const Done& done) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;
  nlohmann::json json_of(const Input& input, const Reply& reply, Detail detail) const override;
  nlohmann::json line_of(const std::string& name, const Input& input, const Reply& reply,
                         Detail detail) const override;

 protected:
  virtual Transcript hear(const Samples& samples, const Hearing& how) const = 0;
  /// What every head looked at. InvalidArgument where there are no heads to show.
  virtual maps::Heads heads(const Samples& samples) const = 0;
};

}  // namespace attn::tasks
