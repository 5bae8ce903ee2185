// Dialogues and lines as numbers.

#include "tasks/chat/lesson.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/chat/vocabulary.hpp"

namespace attn::tasks::chat {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Line line_of(std::int64_t dialogue, std::int64_t turn, const std::string& target,
             std::size_t most) {
  Line line{dialogue, turn, {}};
  for (const std::string& word : words_of(target)) {
    if (line.forms.size() == most) break;
    line.forms.push_back(form_of(word));
  }
  return line;
}

/// A word to write: where its state is, and what it is; "" ends the line.
struct Step {
  std::int64_t place;
  std::int64_t turn;
  const std::string* form;
};

const std::string kEnd;

void add_steps(const std::vector<Line>& lines, std::int64_t first, std::int64_t width,
               std::vector<std::vector<Step>>& steps) {
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const Line& line = lines[row];
    for (std::size_t i = 0; i <= line.forms.size(); ++i)
      steps[at(line.dialogue)].push_back(
          {first + static_cast<std::int64_t>(row) * width + static_cast<std::int64_t>(i),
           line.turn, i < line.forms.size() ? &line.forms[i] : &kEnd});
  }
}

/// Numbers of forms, so that equal ones are found fast.
class FormNumbers {
 public:
  std::int64_t of(const std::string& form) {
    return numbers_.emplace(form, static_cast<std::int64_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
};

}  // namespace

void Lesson::add(const Example& example) {
  const auto number = static_cast<std::int64_t>(dialogues.size());
  Dialogue dialogue = dialogue_of(example.source);
  const std::int64_t pairs = static_cast<std::int64_t>(example.targets.size()) / 2;
  const std::int64_t users = (dialogue.last() + 2) / 2;
  for (std::int64_t i = std::max<std::int64_t>(0, pairs - users); i < pairs; ++i) {
    const std::int64_t turn = 2 * (users - pairs + i);
    replies.push_back(line_of(number, turn, example.targets[at(i)], kMostReply));
    states.push_back(line_of(number, turn, example.targets[at(pairs + i)], kMostState));
  }
  dialogues.push_back(std::move(dialogue));
}

std::vector<WordList> inputs_of(const std::vector<Line>& lines, const char* start) {
  std::vector<WordList> rows;
  for (const Line& line : lines) {
    WordList& row = rows.emplace_back(WordList{start});
    row.insert(row.end(), line.forms.begin(), line.forms.end());
  }
  return rows;
}

Tensor positions_of(const std::vector<Line>& lines, std::int64_t turns) {
  std::vector<std::int64_t> positions;
  positions.reserve(lines.size());
  for (const Line& line : lines) positions.push_back(line.dialogue * turns + line.turn);
  return Tensor::from(positions, {static_cast<std::int64_t>(positions.size())});
}

Queries queries_of(const Lesson& lesson, const Vocabulary& vocabulary, std::int64_t turns,
                   std::int64_t words, std::int64_t reply_width, std::int64_t state_width,
                   bool copies) {
  const auto dialogues = static_cast<std::int64_t>(lesson.dialogues.size());
  std::vector<std::vector<Step>> steps(lesson.dialogues.size());
  add_steps(lesson.replies, 0, reply_width, steps);
  add_steps(lesson.states, static_cast<std::int64_t>(lesson.replies.size()) * reply_width,
            state_width, steps);
  std::size_t most = 1;
  for (const auto& own : steps) most = std::max(most, own.size());
  const auto count = static_cast<std::int64_t>(most);
  const std::int64_t rows = dialogues * count;
  std::vector<std::int64_t> positions(at(rows), 0);
  std::vector<std::int64_t> targets(at(rows), 0);
  Flags in_vocabulary(1, rows);
  Flags reachable(1, rows);
  Flags open(rows, turns);
  Flags matches(rows, turns * words);
  Queries queries;
  for (std::int64_t d = 0; d < dialogues; ++d) {
    FormNumbers numbers;
    const auto& forms = lesson.dialogues[at(d)].forms;
    std::vector<std::vector<std::int64_t>> stands(forms.size());
    for (std::size_t turn = 0; turn < forms.size(); ++turn)
      for (const std::string& form : forms[turn]) stands[turn].push_back(numbers.of(form));
    for (std::size_t i = 0; i < steps[at(d)].size(); ++i) {
      const Step& step = steps[at(d)][i];
      const std::int64_t row = d * count + static_cast<std::int64_t>(i);
      const std::int64_t id =
          step.form == &kEnd ? std::int64_t{text::Mark::eos} : vocabulary.output_of(*step.form);
      positions[at(row)] = step.place;
      targets[at(row)] = id;
      open.set_first(row, step.turn + 1);
      bool can_be = id != text::Mark::unknown;
      if (can_be) in_vocabulary.set(0, row);
      if (copies && step.form != &kEnd) {
        const std::int64_t wanted = numbers.of(*step.form);
        for (std::int64_t turn = 0; turn <= step.turn; ++turn)
          for (std::size_t word = 0; word < stands[at(turn)].size(); ++word)
            if (stands[at(turn)][word] == wanted) {
              matches.set(row, turn * words + static_cast<std::int64_t>(word));
              can_be = true;
            }
      }
      if (!can_be) continue;
      reachable.set(0, row);
      ++queries.count;
    }
  }
  queries.steps = Tensor::from(positions, {dialogues, count});
  queries.targets = Tensor::from(targets, {dialogues, count});
  queries.in_vocabulary = in_vocabulary.tensor().reshape({dialogues, count});
  queries.reachable = reachable.tensor().reshape({dialogues, count});
  queries.open = open.tensor().reshape({dialogues, count, turns});
  queries.matches = matches.tensor().reshape({dialogues, count, turns * words});
  return queries;
}

Choosing choosing_of(const Lesson& lesson, std::int64_t turns, std::int64_t match_rows,
                     Device device) {
  const auto dialogues = static_cast<std::int64_t>(lesson.dialogues.size());
  std::vector<std::int64_t> replies;
  std::vector<const WordList*> texts;
  std::vector<std::vector<std::int64_t>> turns_of(lesson.dialogues.size());
  MatchMaker matches(match_rows);
  std::size_t most = 1;
  for (std::int64_t d = 0; d < dialogues; ++d) {
    const Dialogue& dialogue = lesson.dialogues[at(d)];
    for (std::int64_t turn = 0; turn < dialogue.last(); turn += 2) {
      turns_of[at(d)].push_back(turn);
      replies.push_back(d * turns + turn + 1);
      texts.push_back(&dialogue.forms[at(turn + 1)]);
      matches.add_reply(*texts.back());
    }
    most = std::max(most, turns_of[at(d)].size());
  }
  const auto positions = static_cast<std::int64_t>(most);
  const auto count = static_cast<std::int64_t>(replies.size());
  std::vector<std::int64_t> position_turns(at(dialogues * positions), 0);
  std::vector<std::int64_t> right(position_turns.size(), -1);
  Flags open(dialogues * positions, turns);
  Flags allowed(dialogues * positions, count);
  std::int64_t next = 0;
  for (std::int64_t d = 0; d < dialogues; ++d)
    for (std::int64_t p = 0; p < positions; ++p) {
      const std::int64_t row = d * positions + p;
      if (at(p) >= turns_of[at(d)].size()) {
        matches.add_none();
        continue;
      }
      const std::int64_t turn = turns_of[at(d)][at(p)];
      position_turns[at(row)] = turn;
      open.set_first(row, turn + 1);
      matches.add_dialogue(lesson.dialogues[at(d)], turn);
      for (std::int64_t i = 0; i < count; ++i)
        if (i == next || *texts[at(i)] != *texts[at(next)]) allowed.set(row, i);
      right[at(row)] = next++;
    }
  return {Tensor::from(replies, {count}),
          Tensor::from(position_turns, {dialogues, positions}),
          open.tensor().reshape({dialogues, positions, turns}),
          Tensor::from(right, {dialogues, positions}),
          allowed.tensor().reshape({dialogues, positions, count}),
          matches.matches(dialogues, device)};
}

}  // namespace attn::tasks::chat
