// The program attn-vocabulary: trains the subwords of a text with SentencePiece and writes
// them as a vocabulary of attn. A program of its own, so that attn loads no trainer.
// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace {

using attn::fail;

struct Request {
  int size = 8000;
  std::string out;
  bool byte_fallback = false;
  std::vector<std::string> texts;
};

/// Bytes; longer lines teach nothing and are left out.
constexpr std::size_t kLongestLine = 65536;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

/// The lines of the files in normal form, empty ones left out.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) add(path);
    if (lines_.empty()) fail("there is no line of text in ", paths.size(), " file(s)");
  }

  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  const std::vector<std::string>& all() const { return lines_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void add(const std::string& path) {
    const std::string text = attn::files::read_text(path, kMostBytes);
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++number;
      try {
        std::string line =
            attn::text::normalise(std::string_view(text).substr(begin, end - begin));
        if (!line.empty()) lines_.push_back(std::move(line));
      } catch (const attn::InvalidArgument& error) {
        fail(attn::files::path_text(path), ", line ", number, ": ", error.what());
      }
      begin = end + 1;
    }
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

/// SentencePiece's own, and the least where a script has thousands of characters.
constexpr double kCoverage = 0.9995;

/// The share of the text whose characters get a number each. Half of the numbers, at most, are
/// single characters: where Chinese took them all, English would be spelt letter by letter.
double coverage_of(const std::vector<std::string>& lines, const Request& request) {
  if (!request.byte_fallback) return kCoverage;
  constexpr std::size_t kBytes = 256;
  std::unordered_map<char32_t, std::size_t> counts;
  std::size_t all = 0;
  for (const std::string& line : lines)
    for (const char32_t c : attn::text::code_points(line)) {
      ++counts[c];
      ++all;
    }
  std::vector<std::size_t> common;
  common.reserve(counts.size());
  for (const auto& [c, count] : counts) common.push_back(count);
  std::sort(common.rbegin(), common.rend());
  const auto size = static_cast<std::size_t>(request.size);
  const std::size_t most = size > kBytes ? (size - kBytes) / 2 : 0;
  std::size_t covered = 0;
  for (std::size_t i = 0; i < std::min(most, common.size()); ++i) covered += common[i];
  return std::min(kCoverage, static_cast<double>(covered) / static_cast<double>(all));
}

/// The model as SentencePiece writes it. The same text gives the same bytes: no sampling, no
/// shuffling, and sums cut for a fixed number of threads.
std::string train(const Request& request) {
  Lines lines(request.texts);
  std::string model;
  const std::unordered_map<std::string, std::string> how{
      {"model_type", "unigram"},
      {"vocab_size", std::to_string(request.size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", std::to_string(coverage_of(lines.all(), request))},
      {"byte_fallback", request.byte_fallback ? "true" : "false"},
      {"normalization_rule_name", "identity"},
      {"max_sentence_length", std::to_string(kLongestLine)},
      {"shuffle_input_sentence", "false"},
      {"num_threads", "16"},
      {"pad_id", std::to_string(attn::text::Mark::pad)},
      {"bos_id", std::to_string(attn::text::Mark::bos)},
      {"eos_id", std::to_string(attn::text::Mark::eos)},
      {"unk_id", std::to_string(attn::text::Mark::unknown)},
      {"minloglevel", "2"},
  };
  const auto status = sentencepiece::SentencePieceTrainer::Train(how, &lines, &model);
  if (status.ToString().find("required_chars") != std::string::npos)
    fail("--size ", request.size, " is less than the text's characters and marks (",
         status.ToString(), ")");
  if (!status.ok()) fail("SentencePiece: ", status.ToString());
  return model;
}

attn::text::Tokeniser tokeniser_of(const std::string& model) {
  sentencepiece::SentencePieceProcessor processor;
  const auto status = processor.LoadFromSerializedProto(model);
  if (!status.ok()) fail("SentencePiece: ", status.ToString());
  std::vector<attn::text::Piece> pieces;
  for (int id = attn::text::Mark::unknown + 1; id < processor.GetPieceSize(); ++id)
    pieces.push_back({processor.IdToPiece(id), processor.GetScore(id)});
  return {attn::text::Units::subwords, std::move(pieces)};
}

int run(int argc, char** argv) {
  Request request;
  CLI::App app(
      "Trains a vocabulary of subwords (a unigram model) on text files, one sentence a line,\n"
      "and writes it as a plain file for attn. Text is brought to NFKC first.",
      "attn-vocabulary");
  app.add_option("--size", request.size,
                 "Numbers in the vocabulary, four marks included; a small text may give fewer")
      ->required()
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--out", request.out, "The file to write")->required()->type_name("FILE");
  app.add_flag("--byte-fallback", request.byte_fallback,
               "Spell unknown characters in their bytes; takes 256 numbers");
  app.add_option("texts", request.texts, "Text files")->required()->type_name("TEXT");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (request.byte_fallback && request.size < 300)
    fail("--size ", request.size, " leaves no room beside 256 bytes; accepted: 300 or more");
  const auto tokeniser = tokeniser_of(train(request));
  tokeniser.write(request.out);
  fmt::print("{} numbers in {}\n", tokeniser.size(), request.out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attn-vocabulary: %s\n", error.what());
    return 1;
  }
}
