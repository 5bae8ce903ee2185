// Dialogues as examples to learn from and to be judged by.

#include "attn/tasks/corpus.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/chat/candidates.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::chat {
namespace {

/// A dialogue as it is read.
struct Script {
  std::string id;
  std::string service;
  std::vector<std::string> turns;  ///< the user's first
  std::vector<std::string>
      replies;  ///< to each of the user's turns, slots for what is not said
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
void add_whole(const Script& script, std::vector<Example>& part) {
  const std::size_t turns = std::min(script.turns.size(), kMostTurns);
  const std::size_t pairs = std::min(script.replies.size(), turns / 2);
  if (pairs == 0) return;
  Example& example = part.emplace_back();
  example.id = script.service + " " + script.id;
  example.source = text_of(std::vector<std::string>(
      script.turns.begin(), script.turns.begin() + static_cast<std::ptrdiff_t>(turns)));
  for (std::size_t i = 0; i < pairs; ++i) example.targets.push_back(script.replies[i]);
  for (std::size_t i = 0; i < pairs; ++i) example.targets.push_back(text_of(script.states[i]));
}

/// As it would be if the model had said what the system says.
Script in_brackets(const Script& script) {
  Script own{script.id + " in brackets", script.service, {}, {}, {}, {}};
  for (std::size_t i = 0; i < script.replies.size(); ++i) {
    own.turns.push_back(script.turns[2 * i]);
    own.states.push_back(bracketed(script.states[i], text_of(own.turns)));
    own.replies.push_back(
        bracketed(script.turns[2 * i + 1], script.values[i], text_of(own.turns)));
    own.turns.push_back(own.replies.back());
  }
  return own;
}

/// An example for each of the user's turns that is answered; two of the system's are empty.
void add_turns(const Script& script, std::vector<Example>& part,
               std::vector<std::string>& right) {
  for (std::size_t i = 0; i < script.replies.size(); ++i) {
    if (text::split_words(script.turns[2 * i + 1]).empty()) continue;
    Example& example = part.emplace_back();
    example.id = script.service + " " + script.id + " turn " + std::to_string(2 * i);
    example.source = text_of(std::vector<std::string>(
        script.turns.begin(), script.turns.begin() + static_cast<std::ptrdiff_t>(2 * i + 1)));
    example.targets = {script.replies[i], text_of(script.states[i])};
    right.push_back(script.turns[2 * i + 1]);
  }
}

void add_candidates(const std::vector<std::string>& right, std::vector<Example>& part) {
  const std::vector<std::string> choices = draw_candidates(right);
  for (std::size_t i = 0; i < part.size(); ++i)
    part[i].parts = {{"text", part[i].source}, {"to_choose_from", choices[i]}};
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
void take(const std::vector<std::string_view>& fields, const std::string& place,
          Script& script) {
  const bool by_user = fields[4] == "U";
  if ((!by_user && fields[4] != "S") || by_user != (script.turns.size() % 2 == 0))
    fail<FileError>(place, ": user and system take turns, U first");
  const std::string_view utterance = fields[5];
  if (by_user) {
    script.states.push_back(state_of_file(fields[7]));
  } else {
    script.values.push_back(values_of_acts(fields[6]));
    script.replies.push_back(bracketed(utterance, script.values.back(), text_of(script.turns)));
  }
  script.turns.emplace_back(utterance);
}

/// A line of a user's own file, without "U:" or "S:".
std::string_view without_speaker(std::string_view line) {
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
  Script script;
  std::string part;
  const auto end = [&] {
    if (part == "train") add_whole(script, parts.corpus.train);
    if (part == "train" && split_place(script.id) < kBracketedShare)
      add_whole(in_brackets(script), parts.corpus.train);
    if (part == "dev") add_turns(script, parts.corpus.development, parts.development);
    if (part == "test") add_turns(script, parts.corpus.test, parts.test);
    script = {};
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string place = where + ", line " + std::to_string(number);
    const auto fields = fields_of(take_line(text));
    if (fields.size() != kFields)
      fail<FileError>(place, " has ", fields.size(), " fields; ", kFields, " are accepted");
    if (fields[3] == "0") end();
    part = fields[0];
    script.id = fields[1];
    script.service = fields[2];
    take(fields, place, script);
  }
  end();
  return std::move(parts).finished();
}

Corpus parse_own(std::string_view text, const std::string& where) {
  Parts parts;
  parts.corpus.shuffled = true;
  Script script;
  std::size_t dialogues = 0;
  const auto end = [&] {
    if (script.turns.empty()) return;
    script.id = std::to_string(++dialogues);
    script.service = "own";
    script.states.resize(script.replies.size());
    const double share = split_place("dialogue " + script.id);
    if (share < 0.1) {
      add_turns(script, parts.corpus.test, parts.test);
    } else if (share < 0.2) {
      add_turns(script, parts.corpus.development, parts.development);
    } else {
      add_whole(script, parts.corpus.train);
    }
    script = {};
  };
  while (!text.empty()) {
    const auto fields = fields_of(without_speaker(take_line(text)));
    if (text::split_words(fields.front()).empty()) {
      end();
    } else {
      if (script.turns.size() % 2 == 1) {
        script.replies.emplace_back(fields.front());
      } else {
        script.states.push_back(fields.size() > 1 ? state_of_file(" " + std::string(fields[1]))
                                                  : State());
      }
      script.turns.emplace_back(fields.front());
    }
  }
  end();
  const Corpus& corpus = parts.corpus;
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail<FileError>(
        where, " has ", dialogues, " dialogues with ", corpus.train.size(),
        " to learn from, and ", corpus.development.size(), " and ", corpus.test.size(),
        " replies for development and test; each part needs one: about 30 dialogues "
        "are enough");
  return std::move(parts).finished();
}

}  // namespace attn::tasks::chat
