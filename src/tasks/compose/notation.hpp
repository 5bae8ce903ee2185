/// Notation: how a kind of music is written as tokens, which a network reads and writes.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tensor/random.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {

using Tokens = std::vector<std::int64_t>;

/// Padding and the mark before the first token, of every notation.
inline constexpr std::int64_t kPad = 0;
inline constexpr std::int64_t kBegin = 1;

/// What an input begins with.
struct Opening {
  Tokens tokens;
  std::string problem{};  ///< why it cannot be read; "": it can
  std::vector<std::string> notes{};
};

/// What tokens are.
struct Composition {
  std::string text;  ///< ABC
  Music music;
  /// Of each token the note that it names, or -1. More than one may name a note.
  std::vector<std::int64_t> note_of;
  std::string problem{};  ///< why the text has no notes to play; "": it has
};

class Notation {
 public:
  virtual ~Notation() = default;

  virtual std::int64_t count() const = 0;           ///< tokens there are
  virtual std::int64_t slots() const = 0;           ///< tokens of a step
  virtual bool ends(std::int64_t token) const = 0;  ///< whether the piece does with it
  virtual std::string label(std::int64_t token) const = 0;

  /// Of an example's text, which the data has.
  virtual Tokens tokens_of(const std::string& text) const = 0;
  /// The same music as another example, as training sees it.
  virtual void vary(Tokens&, Random&) const {}
  /// To be added to logits: 0 where a token may stand behind these, else -1e9.
  virtual void forbid(std::span<const std::int64_t> before, float* penalties) const = 0;

  virtual Opening opening(const Input& input) const = 0;
  virtual Composition composition(std::span<const std::int64_t> tokens) const = 0;
};

/// The part of an example that holds its text: "chorale" or "tune".
const std::string* piece_text(const Input& input);

/// "M:6/8\nL:1/8\nK:G\n" and the notes behind on one line, which is what a tune is to a model:
/// lines that name it are left out.
std::string plain_tune(std::string_view text);

/// What its score is divided by: the steps of a chorale, the characters of a tune and its end.
double units_of(const Input& input);

/// By the facts of a lexicon; FileError, which begins with `where`, where they do not fit.
std::unique_ptr<Notation> notation_of(const nlohmann::json& facts, const std::string& where);

/// Of chorales, transposed within the range of the training part.
nlohmann::json chorale_facts(std::span<const std::string* const> texts);
/// Of tunes: the characters that the training part has at least `least` times.
nlohmann::json tune_facts(std::span<const std::string* const> texts, std::int64_t least = 5);

/// The notes of an input: its part "notes", or its text in ABC. None where it is empty;
/// InvalidArgument or FileError where it cannot be read.
Music notes_of(const Input& input);

}  // namespace attn::tasks::compose
