// Dialogues as examples to learn from and to be judged by.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/chat/candidates.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::chat {
namespace {

/// A dialogue as it is read.
struct Told {
  std::string id;
  std::string service;
  std::vector<std::string> turns;    ///< the user's first
  std::vector<std::string> replies;  ///< to each of the user's turns, slots for what is not said
  std::vector<State> states;
  std::vector<std::vector<SlotValue>> values;  ///< of the system's acts, a list a reply
};

/// Of so many dialogues there is one more in brackets.
constexpr double kBracketedShare = 1.0 / 3.0;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

/// Dialogues of more turns than are read would teach what is not there: their end is left out.
void add_whole(const Told& told, std::vector<Example>& part) {
  const std::size_t turns = std::min(told.turns.size(), kMostTurns);
  const std::size_t pairs = std::min(told.replies.size(), turns / 2);
  if (pairs == 0) return;
  Example& example = part.emplace_back();
  example.id = told.service + " " + told.id;
  example.source = text_of(std::vector<std::string>(
      told.turns.begin(), told.turns.begin() + static_cast<std::ptrdiff_t>(turns)));
  for (std::size_t i = 0; i < pairs; ++i) example.targets.push_back(told.replies[i]);
  for (std::size_t i = 0; i < pairs; ++i) example.targets.push_back(text_of(told.states[i]));
}

/// As it would be if the model had said what the system says.
Told told_in_brackets(const Told& told) {
  Told own{told.id + " in brackets", told.service, {}, {}, {}, {}};
  for (std::size_t i = 0; i < told.replies.size(); ++i) {
    own.turns.push_back(told.turns[2 * i]);
    own.states.push_back(bracketed(told.states[i], text_of(own.turns)));
    own.replies.push_back(
        bracketed(told.turns[2 * i + 1], told.values[i], text_of(own.turns)));
    own.turns.push_back(own.replies.back());
  }
  return own;
}

/// An example for each of the user's turns that is answered.
void add_turns(const Told& told, std::vector<Example>& part, std::vector<std::string>& right) {
  for (std::size_t i = 0; i < told.replies.size(); ++i) {
    Example& example = part.emplace_back();
    example.id = told.service + " " + told.id + " turn " + std::to_string(2 * i);
    example.source = text_of(std::vector<std::string>(
        told.turns.begin(), told.turns.begin() + static_cast<std::ptrdiff_t>(2 * i + 1)));
    example.targets = {told.replies[i], text_of(told.states[i])};
    right.push_back(told.turns[2 * i + 1]);
  }
}

void add_candidates(const std::vector<std::string>& right, std::vector<Example>& part) {
  const std::vector<std::string> choices = draw_candidates(right);
  for (std::size_t i = 0; i < part.size(); ++i)
    part[i].parts = {{"text", part[i].source}, {"candidates", choices[i]}};
}

/// Puts the dialogues of each part into examples.
struct Parts {
  Corpus corpus;
  std::vector<std::string> development;  ///< right replies
  std::vector<std::string> test;

  Corpus finished() && {
    add_candidates(development, corpus.development);
    add_candidates(test, corpus.test);
    return std::move(corpus);
  }
};

/// One line of the prepared file.
void take(const std::vector<std::string_view>& fields, const std::string& place, Told& told) {
  const bool by_user = fields[4] == "U";
  if ((!by_user && fields[4] != "S") || by_user != (told.turns.size() % 2 == 0))
    fail<FileError>(place, ": user and system take turns, U first");
  const std::string_view utterance = fields[5];
  if (by_user) {
    told.states.push_back(state_of_file(fields[7]));
  } else {
    told.values.push_back(values_of_acts(fields[6]));
    told.replies.push_back(bracketed(utterance, told.values.back(), text_of(told.turns)));
  }
  told.turns.emplace_back(utterance);
}

/// A line of a user's own file, without "U:" or "S:".
std::string_view said_in(std::string_view line) {
  if (line.starts_with("U:") || line.starts_with("S:")) line.remove_prefix(2);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line;
}

}  // namespace

Corpus parse_prepared(std::string_view text, const std::string& where) {
  constexpr std::size_t kFields = 8;
  Parts parts;
  parts.corpus.name = "Schema-Guided Dialogue";
  parts.corpus.shuffled = true;
  Told told;
  std::string part;
  const auto end = [&] {
    if (part == "train") add_whole(told, parts.corpus.train);
    if (part == "train" && split_place(told.id) < kBracketedShare)
      add_whole(told_in_brackets(told), parts.corpus.train);
    if (part == "dev") add_turns(told, parts.corpus.development, parts.development);
    if (part == "test") add_turns(told, parts.corpus.test, parts.test);
    told = {};
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string place = where + ", line " + std::to_string(number);
    const auto fields = fields_of(take_line(text));
    if (fields.size() != kFields)
      fail<FileError>(place, " has ", fields.size(), " fields; ", kFields, " are accepted");
    if (fields[3] == "0") end();
    part = fields[0];
    told.id = fields[1];
    told.service = fields[2];
    take(fields, place, told);
  }
  end();
  return std::move(parts).finished();
}

Corpus parse_own(std::string_view text, const std::string& where) {
  Parts parts;
  parts.corpus.shuffled = true;
  Told told;
  std::size_t dialogues = 0;
  const auto end = [&] {
    if (told.turns.empty()) return;
    told.id = std::to_string(++dialogues);
    told.service = "own";
    told.states.resize(told.replies.size());
    const double share = split_place("dialogue " + told.id);
    if (share < 0.1) {
      add_turns(told, parts.corpus.test, parts.test);
    } else if (share < 0.2) {
      add_turns(told, parts.corpus.development, parts.development);
    } else {
      add_whole(told, parts.corpus.train);
    }
    told = {};
  };
  while (!text.empty()) {
    const auto fields = fields_of(said_in(take_line(text)));
    if (text::split_words(fields.front()).empty()) {
      end();
    } else {
      if (told.turns.size() % 2 == 1) {
        told.replies.emplace_back(fields.front());
      } else {
        told.states.push_back(
            fields.size() > 1 ? state_of_file(" " + std::string(fields[1])) : State());
      }
      told.turns.emplace_back(fields.front());
    }
  }
  end();
  const Corpus& made = parts.corpus;
  if (made.train.empty() || made.development.empty() || made.test.empty())
    fail<FileError>(where, " has ", dialogues, " dialogues with ", made.train.size(),
                    " to learn from, and ", made.development.size(), " and ", made.test.size(),
                    " replies for development and test; each part needs one: about 30 dialogues "
                    "are enough");
  return std::move(parts).finished();
}

}  // namespace attn::tasks::chat
