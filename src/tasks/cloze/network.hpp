/// The network of cloze: which name of a text belongs into the blank of a question.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "tasks/cloze/passage.hpp"
#include "tasks/cloze/reader.hpp"

namespace attn::tasks::cloze {

class ClozeNetwork final : public Network {
 public:
  /// `where` begins what is told when the lexicon does not fit.
  ClozeNetwork(const nlohmann::json& model, const Lexicon& lexicon, const std::string& where);

  std::string kind() const override;
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example& example) const override;
  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

 private:
  Passage passage_of(const Input& input) const;
  std::int64_t id_of(const std::string& word) const;
  Reply reply(const Input& input, const Passage& passage, const float* chances) const;

  nlohmann::json model_;
  std::unordered_map<std::string, std::int64_t> ids_;
  Names names_;
  Reader reader_;
};

}  // namespace attn::tasks::cloze
