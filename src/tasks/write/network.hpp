/// The network of `write`: a language model on byte pieces, which reads passages and writes on
/// from texts.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/models/language_model.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/text/byte_pieces.hpp"

namespace attn::tasks {

/// The options of a model's JSON, whose vocabulary is `tokens`. FileError, which begins with
/// `where`, for what does not fit together.
models::LanguageModelOptions language_model_options(const nlohmann::json& model,
                                                    std::int64_t tokens,
                                                    const std::string& where);

/// Pieces as facts of a lexicon, and back; FileError, which begins with `where`.
nlohmann::json facts_of(const text::BytePieces& pieces);
text::BytePieces pieces_of(const nlohmann::json& facts, const std::string& where);

class WriteNetwork final : public Network {
 public:
  WriteNetwork(const models::LanguageModelOptions& options, text::BytePieces pieces,
               std::string variant);

  std::string kind() const override { return "language_model"; }
  std::string variant() const override { return variant_; }
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example& example) const override;
  std::string refusal(const Input& input) const override;
  /// A passage is read: log_probability is of all of it. A text is written on from.
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

  const models::LanguageModel& model() const { return model_; }
  const text::BytePieces& pieces() const { return pieces_; }

 private:
  using Tokens = std::vector<std::int64_t>;

  Tokens encoded(const Example& example) const;
  /// Of each passage the log-probability of its tokens, marks included.
  std::vector<double> read(std::span<const Tokens> passages) const;
  Reply write_on(const std::string& prompt, const Choices& choices) const;

  models::LanguageModel model_;
  text::BytePieces pieces_;
  std::string variant_;
  /// Of the examples that are learnt from, by their names: a training comes back to each.
  struct Known {
    std::string text;
    Tokens tokens;
  };
  struct Memory {
    std::mutex guard;
    std::unordered_map<std::string, Known> known;
  };
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

/// Text as it is written: bytes go in, whole characters come out, and what is no character of
/// UTF-8 becomes U+FFFD.
class WrittenText {
 public:
  /// What can be shown now.
  std::string add(std::string_view bytes);

 private:
  std::string waiting_;
};

}  // namespace attn::tasks
