// attn embed: texts as vectors, their cosines, the nearest lines of a file.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/npy.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/tasks/embed/fetch.hpp"
#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/embed_texts.hpp"
#include "tools/attn/output_path.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tasks::Match;
using tasks::SentenceEncoder;

/// A matrix of more texts is too wide to read; the nearest of each are told instead.
constexpr std::size_t kWidestMatrix = 16;

struct EmbedOptions {
  std::vector<std::string> texts;
  std::string nearest;
  std::string model;
  std::string out;
  int top = 5;
  Device device = Device::cpu;
  bool json = false;
};

/// What is said of one text: lines most alike to it.
using Matches = std::vector<std::vector<Match>>;

SentenceEncoder load(const EmbedOptions& options) {
  const fs::path folder =
      options.model.empty() ? tasks::embed_folder() : fs::path(options.model);
  if (!fs::exists(folder / "model.json"))
    fail<FileError>("there is no sentence encoder in ", files::path_text(folder),
                    options.model.empty() ? "; fetch it (26 MB) with: attn data embed"
                                          : "; it needs model.json, its shards and vocab.json");
  return SentenceEncoder::load(folder, options.device);
}

void write_vectors(const fs::path& path, const Tensor& vectors) {
  const auto array = files::array_view(
      "embeddings", {vectors.size(0), vectors.size(1)},
      std::span(vectors.data<float>(), static_cast<std::size_t>(vectors.numel())));
  if (path.extension() == ".npy") {
    files::write_npy(path, array);
  } else {
    files::write_safetensors(path, std::span(&array, 1),
                             {{"model", "Universal Sentence Encoder Lite"}});
  }
}

Matches nearest_of(const Tensor& queries, const SentenceEncoder& encoder,
                   const TextLines& lines, int top, const Streams& streams) {
  tasks::Nearest nearest(queries, top);
  encode_in_turns(encoder, lines.texts, streams,
                  [&](std::size_t, const Tensor& vectors) { nearest.add(vectors); });
  return nearest.matches();
}

/// The nearest of the other texts to each.
Matches nearest_others(const Tensor& vectors, int top) {
  tasks::Nearest nearest(vectors, top + 1);
  nearest.add(vectors);
  Matches matches = nearest.matches();
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::erase_if(matches[i],
                  [&](const Match& m) { return m.place == static_cast<std::int64_t>(i); });
    matches[i].resize(std::min(matches[i].size(), static_cast<std::size_t>(top)));
  }
  return matches;
}

std::vector<float> row_of(const Tensor& matrix, std::size_t row) {
  return matrix.select(0, static_cast<std::int64_t>(row)).to_vector<float>();
}

/// The cosines between all of them.
std::vector<std::vector<double>> similarities(const Tensor& vectors) {
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(vectors.size(0)); ++i) {
    const std::vector<float> own = row_of(vectors, i);
    rows.emplace_back();
    for (std::size_t j = 0; j < static_cast<std::size_t>(vectors.size(0)); ++j) {
      const std::vector<float> other = row_of(vectors, j);
      rows.back().push_back(std::inner_product(own.begin(), own.end(), other.begin(), 0.0));
    }
  }
  return rows;
}

json embedding_json(const TextLines& texts, const Tensor& vectors, const Matches& matches,
                    const TextLines& among) {
  json results = json::array();
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    json result{{"text", texts.texts[i]}, {"embedding", row_of(vectors, i)}};
    if (!matches.empty()) {
      json found = json::array();
      for (const Match& match : matches[i]) {
        const auto place = static_cast<std::size_t>(match.place);
        found.push_back({{"line", among.numbers[place]},
                         {"text", among.texts[place]},
                         {"score", match.score}});
      }
      result["nearest"] = std::move(found);
    }
    results.push_back(std::move(result));
  }
  json whole{{"texts", std::move(results)}};
  if (texts.texts.size() <= kWidestMatrix) whole["similarity"] = similarities(vectors);
  return whole;
}

void print_matrix(const TextLines& texts, const Tensor& vectors, const Streams& streams) {
  const auto rows = similarities(vectors);
  fmt::print(streams.out, "   ");
  for (std::size_t i = 0; i < rows.size(); ++i) fmt::print(streams.out, " {:>6}", i + 1);
  fmt::print(streams.out, "\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print(streams.out, "{:>3}", i + 1);
    for (const double cosine : rows[i]) fmt::print(streams.out, " {:>6.3f}", cosine);
    fmt::print(streams.out, "  {}\n", files::printable(texts.texts[i], 60));
  }
}

void print_matches(const TextLines& texts, const Matches& matches, const TextLines& among,
                   const Streams& streams) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    fmt::print(streams.out, "{}{}\n", i > 0 ? "\n" : "", files::printable(texts.texts[i]));
    for (const Match& match : matches[i]) {
      const auto place = static_cast<std::size_t>(match.place);
      fmt::print(streams.out, "  {:>6.3f}  {:>6}  {}\n", match.score, among.numbers[place],
                 files::printable(among.texts[place]));
    }
  }
}

void print_vector(const std::vector<float>& vector, const Streams& streams) {
  for (std::size_t i = 0; i < vector.size(); ++i)
    fmt::print(streams.out, "{}{:.7g}", i > 0 ? " " : "", vector[i]);
  fmt::print(streams.out, "\n");
}

int embed(const EmbedOptions& options, const Streams& streams) {
  check_device(options.device, "attn embed");
  if (!options.out.empty()) check_output_file(options.out);
  const TextLines texts = given_texts(options.texts);
  const TextLines lines = options.nearest.empty() ? TextLines{} : lines_of(options.nearest);
  const SentenceEncoder encoder = load(options);
  tell_of_long_texts(encoder, texts, streams);
  const Tensor vectors = encode_all(encoder, texts.texts, streams);
  if (!options.out.empty()) write_vectors(options.out, vectors);

  const std::size_t count = texts.texts.size();
  const bool within = options.nearest.empty() && count > kWidestMatrix && options.out.empty();
  const TextLines& among = within ? texts : lines;
  const Matches matches = within ? nearest_others(vectors, options.top)
                          : options.nearest.empty()
                              ? Matches{}
                              : nearest_of(vectors, encoder, lines, options.top, streams);
  if (options.json) {
    fmt::print(streams.out, "{}\n", embedding_json(texts, vectors, matches, among).dump(2));
  } else if (!matches.empty()) {
    print_matches(texts, matches, among, streams);
  } else if (count > 1 && count <= kWidestMatrix) {
    print_matrix(texts, vectors, streams);
  } else if (count == 1 && options.out.empty()) {
    print_vector(row_of(vectors, 0), streams);
  }
  if (!options.out.empty())
    fmt::print(options.json ? streams.err : streams.out,
               "Written to {}: {} vectors of {} numbers.\n", options.out, vectors.size(0),
               vectors.size(1));
  return success;
}

std::string check_out(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  return ending == ".npy" || ending == ".safetensors"
             ? ""
             : "the name must end in .npy or .safetensors";
}

}  // namespace

void add_embed(CLI::App& app, Action& action) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App* command = app.add_subcommand(
      "embed", "Turn texts into vectors: compare texts, or find the nearest lines of a file");
  command->footer(
      "\nA trained Transformer (Universal Sentence Encoder Lite, English) turns a text into "
      "512\n"
      "numbers; texts that mean alike get vectors that point alike. Several texts are shown "
      "with\n"
      "the cosines between them, from -1 to 1; more than 16 with the nearest others of each.\n"
      "It reads 128 pieces of a text. `attn data embed` fetches it once.\n\n"
      "Examples:\n"
      "    attn embed 'How old are you?' 'What is your age?' 'It rains'\n"
      "    attn embed 'play a sound file' --nearest synopses.txt --top 10\n"
      "    attn embed - --out vectors.npy < sentences.txt");
  command->add_option("texts", options->texts, "Texts, or - for the lines of standard input")
      ->required()
      ->type_name("TEXT");
  command->add_option("--nearest", options->nearest, "Find the nearest lines of this file")
      ->type_name("FILE");
  command->add_option("--top", options->top, "Number of nearest lines to show; default 5")
      ->check(CLI::Range(1, 100000));
  command
      ->add_option("--out", options->out,
                   "Write the vectors to this file: .npy or .safetensors")
      ->type_name("FILE")
      ->check(CLI::Validator(check_out, ""));
  command->add_option("--model", options->model, "Folder of the encoder; default: the cache")
      ->type_name("DIR");
  add_device_flag(*command, options->device, "Device that encodes the texts");
  command->add_flag("--json", options->json, "Print JSON, with the vectors");
  command->callback([options, &action] {
    if (options->texts.size() > 1 &&
        std::find(options->texts.begin(), options->texts.end(), "-") != options->texts.end())
      throw CLI::ValidationError(fmt::format(
          "- is standard input and stands alone; {} texts were given", options->texts.size()));
    action = [options](const Streams& streams) { return embed(*options, streams); };
  });
}

}  // namespace attn::tools
