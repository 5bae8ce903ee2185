#include "tasks/write/baselines.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/write/kneser_ney.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// Packs a file into another; its program may write to standard output, which is that file.
struct Compressor {
  std::string name;
  std::string package;  ///< of Debian, which has its program
  std::function<std::vector<std::string>(const fs::path& in, const fs::path& out)> command;
  bool writes_to_output = false;
};

const std::vector<Compressor>& compressors() {
  static const std::vector<Compressor> kAll{
      {"xz -9e", "xz-utils",
       [](const fs::path& in, const fs::path&) {
         return std::vector<std::string>{"xz", "-9e", "-kc", in.string()};
       },
       true},
      {"PPMd (7z -m0=PPMd:o=6)", "7zip", [](const fs::path& in, const fs::path& out) {
         return std::vector<std::string>{"7z", "a", "-m0=PPMd:o=6", out.string(), in.string()};
       }}};
  return kAll;
}

/// None where the program is not here.
std::optional<double> bytes_of(const Compressor& compressor, const fs::path& folder,
                               const std::string& text) {
  const fs::path in = folder / "text";
  const fs::path out = folder / "packed.7z";
  const fs::path log = folder / "log";
  std::error_code ignored;
  fs::remove(out, ignored);
  files::atomic_write(in, text);
  const Ended ended = run_program(compressor.command(in, out),
                                  compressor.writes_to_output ? out : log, folder / "errors");
  if (ended == Ended::not_started) return std::nullopt;
  if (ended == Ended::badly)
    fail<FileError>(compressor.name, " did not end well: ", complaint(folder / "errors"));
  return static_cast<double>(fs::file_size(out));
}

Baseline compressed(const Compressor& compressor, const std::string& train,
                    const std::string& test) {
  const ScratchFolder scratch(temporary_folder());
  const auto alone = bytes_of(compressor, scratch.path(), train);
  if (!alone)
    return {
        compressor.name + " is not here (sudo apt-get install -y " + compressor.package + ")",
        {}};
  const double both = bytes_of(compressor, scratch.path(), train + test).value_or(0.0);
  const double bits = 8.0 * (both - *alone);
  return {compressor.name, {{"bits", bits / static_cast<double>(characters(test))}}};
}

/// The passages of a document belong together; marks stand where it begins and ends.
std::vector<std::vector<std::int64_t>> documents(std::span<const Example> passages,
                                                 const text::BytePieces& tokens) {
  std::vector<std::vector<std::int64_t>> all;
  for (const Example& example : passages) {
    const Input input = example.input();
    const Excerpt passage = passage_of(input);
    if (passage.begins || all.empty()) all.push_back({text::Mark::bos});
    const auto ids = tokens.encode(passage.text);
    all.back().insert(all.back().end(), ids.begin(), ids.end());
    if (passage.ends) all.back().push_back(text::Mark::eos);
  }
  return all;
}

Baseline by_counts(const Corpus& corpus, const std::string& train, const std::string& test) {
  constexpr std::int64_t kVocabulary = 1024;
  const auto tokens = text::BytePieces::learn(std::span(&train, 1), kVocabulary);
  const KneserNey model(documents(corpus.train, tokens), tokens.size(), KneserNey::kMostOrder);
  double bits = 0.0;
  for (const auto& document : documents(corpus.test, tokens)) bits += model.bits(document);
  return {"5-grams of " + std::to_string(tokens.size()) + " byte pieces, Kneser-Ney",
          {{"bits", bits / static_cast<double>(characters(test))}}};
}

}  // namespace

std::vector<Baseline> written_baselines(const Corpus& corpus) {
  const std::string train = joined(corpus.train);
  const std::string test = joined(corpus.test);
  std::vector<Baseline> all;
  for (const Compressor& compressor : compressors())
    all.push_back(compressed(compressor, train, test));
  all.push_back(by_counts(corpus, train, test));
  return all;
}

}  // namespace attn::tasks
