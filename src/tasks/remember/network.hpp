/// The network of remember: stories and questions in, one of the answers it learnt out.

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
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/remember/reader.hpp"

namespace attn::tasks::remember {

/// What a hop looked at stands among the numbers of an answer under this name, the earliest
/// sentence that was read first. Hops count from 1.
std::string hop_name(std::int64_t hop);

class RememberNetwork final : public Network {
 public:
  /// `where` begins what is told when the lexicon does not fit.
  RememberNetwork(const nlohmann::json& model, const Lexicon& lexicon,
                  const std::string& where);

  std::string kind() const override;
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example& example) const override;
  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

 private:
  /// A training example as its story is told this time.
  struct Told {
    Memory memory;
    std::int64_t answer;  ///< of the vocabulary
  };

  Words ids_of(std::string_view sentence) const;
  Memory memory_of(const Input& input) const;
  Told told(const Example& example, Random& random) const;
  void change_words(std::int64_t task, Told& told, const std::string& answer,
                    Random& random) const;
  void forget_a_name(Told& told, Random& random) const;
  void add_noise(Memory& memory, Random& random) const;
  Reply reply(const Input& input, const float* chances, const Tensor& weights,
              std::int64_t row) const;
  std::vector<std::string> notes_on(const Input& input) const;

  nlohmann::json model_;
  text::Tokeniser vocabulary_;
  std::vector<std::string> answers_;  ///< as they are written
  std::vector<std::int64_t> answer_ids_;
  std::unordered_map<std::string, std::int64_t> ids_;
  Reader reader_;
};

}  // namespace attn::tasks::remember
