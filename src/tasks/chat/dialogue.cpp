// Dialogues as texts.

#include "tasks/chat/dialogue.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/classify/words.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::chat {
namespace {

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Where `part` stands in `text` as whole words, both in small letters; npos: nowhere.
std::size_t find_words(std::string_view text, std::string_view part, std::size_t from = 0) {
  for (std::size_t at = text.find(part, from); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    const bool begins = at == 0 || !is_letter(text[at - 1]) || !is_letter(part.front());
    const std::size_t end = at + part.size();
    const bool ends = end == text.size() || !is_letter(text[end]) || !is_letter(part.back());
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

/// "[restaurant name]" becomes " [restaurant_name] "; other brackets stay as they are.
std::string with_slots_apart(std::string_view turn) {
  std::string out;
  while (!turn.empty()) {
    const std::size_t open = turn.find('[');
    const std::size_t close = turn.find(']', std::min(open, turn.size()));
    if (close == std::string_view::npos) break;
    std::string name(turn.substr(open, close + 1 - open));
    const bool is_slot =
        name.size() > 2 && std::all_of(name.begin() + 1, name.end() - 1, [](char c) {
          return c == ' ' || c == '_' || (c >= 'a' && c <= 'z');
        });
    out.append(turn.substr(0, open));
    if (is_slot) std::replace(name.begin(), name.end(), ' ', '_');
    out += is_slot ? " " + name + " " : name;
    turn.remove_prefix(close + 1);
  }
  return out.append(turn);
}

/// Where the name of an act ends that begins here; the same place where none does.
std::size_t end_of_act(std::string_view acts, std::size_t at) {
  while (at < acts.size() && ((acts[at] >= 'A' && acts[at] <= 'Z') || acts[at] == '_')) ++at;
  return at;
}

/// The bracket that closes an act's value: behind it the acts end, or another one begins.
std::size_t end_of_value(std::string_view acts, std::size_t at) {
  for (; at < acts.size(); ++at) {
    if (acts[at] != ')') continue;
    if (at + 1 == acts.size()) return at;
    const std::size_t end = end_of_act(acts, at + 2);
    if (acts[at + 1] == ' ' && end > at + 2 &&
        (end == acts.size() || acts[end] == '(' || acts[end] == ' '))
      return at;
  }
  return acts.size();
}

bool is_said(const std::string& value) {
  return !value.empty() && value != "True" && value != "False" && value != "dontcare";
}

std::string in_brackets(std::string slot) {
  std::replace(slot.begin(), slot.end(), '_', ' ');
  return "[" + slot + "]";
}

State sorted(State state) {
  std::sort(state.begin(), state.end());
  return state;
}

}  // namespace

std::vector<std::string> turns_of(std::string_view text) {
  std::vector<std::string> turns;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto words = text::split_words(line);
    if (!words.empty())
      turns.emplace_back(words.front().data(),
                         words.back().data() + words.back().size() - words.front().data());
  }
  return turns;
}

std::string text_of(const std::vector<std::string>& turns) {
  std::string text;
  for (const std::string& turn : turns) {
    std::string line = turn;
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\r', ' ');
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

std::vector<std::string> words_of(std::string_view turn) {
  return classify::words_of(turn.find('[') == std::string_view::npos ? std::string(turn)
                                                                     : with_slots_apart(turn));
}

std::string form_of(std::string_view word) {
  const bool ascii = std::all_of(word.begin(), word.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? small(word) : text::lower(text::nfkc(word));
}

std::string sentence_of(const std::vector<std::string>& words) {
  constexpr std::string_view kClose = ".,?!:;)";
  std::string text;
  bool open = true;  // what comes next stands beside what is there
  for (const std::string& word : words) {
    const bool closes = word.size() == 1 && kClose.find(word.front()) != std::string_view::npos;
    if (!open && !closes) text += ' ';
    std::string shown = word;
    if (word.size() > 2 && word.front() == '[' && word.back() == ']')
      std::replace(shown.begin(), shown.end(), '_', ' ');
    text += shown;
    open = word == "(";
  }
  return text;
}

std::vector<SlotValue> values_of_acts(std::string_view acts) {
  std::vector<SlotValue> values;
  for (std::size_t at = 0; at < acts.size();) {
    const std::size_t name = end_of_act(acts, at);
    if (name < acts.size() && acts[name] == '(') {
      const std::size_t end = end_of_value(acts, name + 1);
      const std::string_view inside = acts.substr(name + 1, end - name - 1);
      if (const std::size_t equals = inside.find('='); equals != std::string_view::npos)
        values.emplace_back(inside.substr(0, equals), inside.substr(equals + 1));
      at = end + 1;
    } else {
      at = name;
    }
    ++at;
  }
  return values;
}

std::string bracketed(std::string_view utterance, const std::vector<SlotValue>& values,
                      std::string_view dialogue) {
  std::vector<SlotValue> longest_first = values;
  std::stable_sort(
      longest_first.begin(), longest_first.end(),
      [](const SlotValue& a, const SlotValue& b) { return a.second.size() > b.second.size(); });
  const std::string known = small(dialogue);
  std::string out(utterance);
  for (const auto& [slot, value] : longest_first) {
    const std::string wanted = small(value);
    if (!is_said(value) || find_words(known, wanted) != std::string::npos) continue;
    const std::string name = in_brackets(slot);
    for (std::size_t at = find_words(small(out), wanted); at != std::string::npos;
         at = find_words(small(out), wanted, at + name.size())) {
      std::size_t size = wanted.size();
      if (at > 0 && out[at - 1] == '$') --at, ++size;
      out.replace(at, size, name);
    }
  }
  return out;
}

State bracketed(const State& state, std::string_view dialogue) {
  const std::string known = small(dialogue);
  State out = state;
  for (auto& [slot, value] : out)
    if (find_words(known, small(value)) == std::string::npos &&
        known.find(in_brackets(slot)) != std::string::npos)
      value = in_brackets(slot);
  return out;
}

State state_of_file(std::string_view field) {
  State state;
  field.remove_prefix(std::min(field.size(), field.find(' ')));
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(';'), field.size());
    std::string_view one = field.substr(0, end);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    if (const std::size_t equals = one.find('='); equals != std::string_view::npos)
      state.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    field.remove_prefix(std::min(field.size(), end + 1));
  }
  return sorted(std::move(state));
}

std::string text_of(const State& state) {
  std::string text;
  for (const auto& [slot, value] : state)
    text.append(text.empty() ? "" : " ; ").append(slot).append(" = ").append(value);
  return text;
}

State state_of(const std::vector<std::string>& words) {
  State state;
  for (auto at = words.begin(); at != words.end();) {
    const auto end = std::find(at, words.end(), ";");
    const bool fits = end - at > 2 && at[1] == "=";
    const bool is_new =
        fits && std::none_of(state.begin(), state.end(),
                             [&](const SlotValue& one) { return one.first == *at; });
    if (is_new) state.emplace_back(*at, sentence_of({at + 2, end}));
    at = end == words.end() ? end : end + 1;
  }
  return sorted(std::move(state));
}

bool same(const State& a, const State& b) {
  const auto plain = [](const State& state) {
    State forms;
    for (const auto& [slot, value] : state)
      forms.emplace_back(slot, form_of(sentence_of(words_of(value))));
    return sorted(std::move(forms));
  };
  return plain(a) == plain(b);
}

std::string service_of(const Example& example) {
  return example.id.substr(0, example.id.find(' '));
}

std::vector<std::string> candidates_of(const Input& input) {
  const auto* text = input.find<std::string>("to_choose_from");
  return text == nullptr ? std::vector<std::string>() : turns_of(*text);
}

}  // namespace attn::tasks::chat
