// SPDX-License-Identifier: Apache-2.0

#include "tasks/texts.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"

namespace attn::bench {
namespace {

constexpr const char* kSentences =
#include "bench_sentences.inc"
    ;

constexpr std::size_t kSentencesOfAParagraph = 4;

std::vector<std::string> sentences() {
  std::vector<std::string> lines;
  std::istringstream text(kSentences);
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::vector<std::string> words() {
  std::string text = kSentences;
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; }, ' ');
  std::istringstream in(text);
  std::set<std::string> distinct;
  for (std::string word; in >> word;) distinct.insert(word);
  return {distinct.begin(), distinct.end()};
}

std::vector<std::string> paragraphs() {
  std::vector<std::string> made;
  const std::vector<std::string> lines = sentences();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % kSentencesOfAParagraph == 0) {
      made.push_back(lines[i]);
    } else {
      made.back() += " " + lines[i];
    }
  }
  return made;
}

}  // namespace

std::vector<std::string> texts_for(const tasks::PairTask& task) {
  switch (task.metric) {
    case tasks::Metric::phones:
    case tasks::Metric::exact:
      return words();
    case tasks::Metric::rouge:
      return paragraphs();
    case tasks::Metric::bleu:
      break;
  }
  return sentences();
}

}  // namespace attn::bench
