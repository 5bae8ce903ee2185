/// A dialogue: turns by turns the user's and the system's, what is said as words, the state
/// that the user's wishes make, and the examples that the prepared file holds.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"

namespace attn::tasks::chat {

/// What is read of a dialogue: the last turns of it, and the first words of each.
inline constexpr std::size_t kMostTurns = 24;
inline constexpr std::size_t kMostWords = 40;
/// What a model writes at most, in words.
inline constexpr std::size_t kMostReply = 40;
inline constexpr std::size_t kMostState = 80;

/// The turns of an input, a line each; blank ones are left out.
std::vector<std::string> turns_of(std::string_view text);
/// The other way; a line break within a turn becomes a space.
std::string text_of(const std::vector<std::string>& turns);

/// The words of a turn, punctuation apart. A slot that stands for a value, "[restaurant name]",
/// is one word, "[restaurant_name]".
std::vector<std::string> words_of(std::string_view turn);
/// A word in small letters, by which it is copied and written.
std::string form_of(std::string_view word);
/// Words as a sentence: no space before a full stop, and slots as they were.
std::string sentence_of(const std::vector<std::string>& words);

/// What an act of the system names: "INFORM(phone_number=408-247-8880)" a slot and its value.
using SlotValue = std::pair<std::string, std::string>;
std::vector<SlotValue> values_of_acts(std::string_view acts);

/// The utterance with "[slot name]" for each value that the dialogue so far does not hold: only
/// a database could know it.
std::string bracketed(std::string_view utterance, const std::vector<SlotValue>& values,
                      std::string_view dialogue);

/// What the user wants, slots in order.
using State = std::vector<SlotValue>;
/// Of the file: "FindHotel city=Lafayette;stars=3" without the intent.
State state_of_file(std::string_view field);
/// "city = Lafayette ; stars = 3", and back from its words. What is no "slot = value" is left
/// out, and of a slot that is there twice the first counts.
std::string text_of(const State& state);
State state_of(const std::vector<std::string>& words);
/// The state with "[slot name]" for each value that the dialogue has only under that name.
State bracketed(const State& state, std::string_view dialogue);
/// Whether they have the same slots with the same words, capitals aside.
bool same(const State& a, const State& b);

/// Of a part of the corpus: the service that the dialogue is about.
std::string service_of(const Example& example);
/// The replies to choose from, the right one first; empty where there are none.
std::vector<std::string> candidates_of(const Input& input);

/// The prepared file: split, dialogue, service, turn, speaker, utterance, acts, state. An
/// example to learn from is a whole dialogue: its targets are the replies to each of the user's
/// turns, then the states. Of a third of them there is one more with the system's turns in
/// brackets, too, as a model's own turns are. Of the other parts it is a dialogue up to a
/// user's turn, with the reply, the state, and ten replies to choose from.
Corpus parse_prepared(std::string_view text, const std::string& where);

/// A file of one's own: dialogues between blank lines, turns in lines, the first the user's. A
/// line may begin with "U:" or "S:", and a user's line may end with a tab and its state. A
/// tenth of the dialogues each is development and test.
Corpus parse_own(std::string_view text, const std::string& where);

}  // namespace attn::tasks::chat
