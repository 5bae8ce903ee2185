/// The network of chat: it writes the next reply and the user's state, and chooses among
/// replies.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/lesson.hpp"
#include "tasks/chat/vocabulary.hpp"

namespace attn::tasks::chat {

/// Under this name the numbers of an answer have the score of each candidate, in order.
inline constexpr const char* kChoice = "choice";

/// How replies are searched for unless the caller chooses.
const models::SearchOptions& default_search();

class ChatNetwork final : public Network {
 public:
  /// `where` begins what is script when the lexicon does not fit.
  ChatNetwork(const nlohmann::json& model, const Lexicon& lexicon, const std::string& where);

  std::string kind() const override;
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example& example) const override;
  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

 private:
  Lesson lesson_of(std::span<const Example* const> batch) const;
  Tensor writing_loss(const Lesson& lesson, const Encoding& encoding) const;
  Tensor choosing_loss(const Lesson& lesson, const Encoding& encoding) const;
  std::vector<std::vector<float>> choices_of(std::span<const Input> inputs,
                                             const std::vector<Dialogue>& dialogues,
                                             const Encoding& encoding) const;
  void tell_of(const Dialogue& dialogue, Reply& reply) const;

  nlohmann::json model_;
  Vocabulary vocabulary_;
  Layers layers_;
};

}  // namespace attn::tasks::chat
