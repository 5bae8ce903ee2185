// Dialogues as words and numbers.

#include "tasks/chat/batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/chat/dialogue.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/words.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::chat {

Dialogue dialogue_of(std::string_view text) {
  Dialogue dialogue;
  std::vector<std::string> turns = turns_of(text);
  // In pairs, so that the first that is read is the user's.
  if (turns.size() > kMostTurns) dialogue.skipped = (turns.size() - kMostTurns + 1) / 2 * 2;
  for (std::size_t i = dialogue.skipped; i < turns.size(); ++i) {
    WordList words = words_of(turns[i]);
    if (words.size() > kMostWords) {
      words.resize(kMostWords);
      dialogue.cut = true;
    }
    WordList& forms = dialogue.forms.emplace_back();
    for (const std::string& word : words) forms.push_back(form_of(word));
    dialogue.turns.push_back(std::move(words));
  }
  return dialogue;
}

classify::TextBatch batch_of(const std::vector<Dialogue>& dialogues,
                             const classify::WordTables& tables, Device device) {
  std::vector<classify::Reading> readings;
  readings.reserve(dialogues.size());
  for (const Dialogue& dialogue : dialogues) readings.push_back({dialogue.turns, false});
  return tables.batch_of(readings, device);
}

classify::TextBatch batch_of_rows(const std::vector<WordList>& rows,
                                  const classify::WordTables& tables, Device device) {
  std::vector<classify::Reading> readings;
  readings.reserve(rows.size());
  for (const WordList& row : rows) readings.push_back({{row}, false});
  return tables.batch_of(readings, device);
}

Flags::Flags(std::int64_t rows, std::int64_t columns)
    : flags_(Tensor::zeros({rows, columns}, DType::boolean)) {}

void Flags::set(std::int64_t row, std::int64_t column) {
  flags_.mutable_data<bool>()[row * flags_.size(1) + column] = true;
}

void Flags::set_first(std::int64_t row, std::int64_t count) {
  std::fill_n(flags_.mutable_data<bool>() + row * flags_.size(1), count, true);
}

std::int64_t match_bin(std::string_view form, std::int64_t rows) {
  return static_cast<std::int64_t>(split_hash(form) % static_cast<std::uint64_t>(rows));
}

std::vector<std::int64_t> MatchMaker::ids_of(const WordList& forms) {
  std::vector<std::int64_t> ids;
  for (const std::string& form : forms) {
    const auto [at, is_new] = ids_.emplace(form, static_cast<std::int64_t>(bins_.size()));
    if (is_new) bins_.push_back(match_bin(form, rows_));
    ids.push_back(at->second);
  }
  return ids;
}

void MatchMaker::add(std::vector<std::int64_t> so_far, std::vector<std::int64_t> last) {
  so_far_.push_back(std::move(so_far));
  last_.push_back(std::move(last));
}

void MatchMaker::add_dialogue(const Dialogue& dialogue, std::int64_t last) {
  std::vector<std::int64_t> all;
  for (std::int64_t turn = 0; turn <= last; ++turn) {
    const auto ids = ids_of(dialogue.forms[static_cast<std::size_t>(turn)]);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  add(std::move(all), ids_of(dialogue.forms[static_cast<std::size_t>(last)]));
}

Tensor MatchMaker::table_of(const std::vector<std::vector<std::int64_t>>& rows,
                            Device device) const {
  std::vector<float> has(rows.size() * bins_.size(), 0.0f);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const std::int64_t word : rows[row])
      has[row * bins_.size() + static_cast<std::size_t>(word)] = 1.0f;
  return Tensor::from(has, {static_cast<std::int64_t>(rows.size()),
                            static_cast<std::int64_t>(bins_.size())})
      .to(device);
}

Matches MatchMaker::matches(std::int64_t dialogues, Device device) const {
  const auto words = static_cast<std::int64_t>(bins_.size());
  return {Tensor::from(bins_, {words}).to(device),
          table_of(so_far_, device).reshape({dialogues, -1, words}),
          table_of(last_, device).reshape({dialogues, -1, words}), table_of(replies_, device)};
}

}  // namespace attn::tasks::chat
