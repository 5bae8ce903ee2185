/// The network of compose: pieces are read, or gone on with token by token.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "tasks/compose/layers.hpp"
#include "tasks/compose/notation.hpp"

namespace attn::tasks::compose {

class ComposeNetwork final : public Network {
 public:
  /// FileError, which begins with `where`, where options and facts do not fit.
  ComposeNetwork(const nlohmann::json& model, const nlohmann::json& facts,
                 const std::string& where);

  std::string kind() const override { return "music_transformer"; }
  std::string variant() const override { return variant_; }
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example& example) const override;
  std::string refusal(const Input& input) const override;
  /// Of an example's piece log_probability is that of all of it. Anything else is gone on with:
  /// the answer's text is ABC, its output the notes.
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

  const Notation& notation() const { return *notation_; }

 private:
  std::vector<double> read(std::span<const Tokens> pieces) const;
  Reply go_on(const Input& input, const Choices& choices) const;

  std::string variant_;
  std::unique_ptr<Notation> notation_;
  MusicTransformer model_;
};

}  // namespace attn::tasks::compose
