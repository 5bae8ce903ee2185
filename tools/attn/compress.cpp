// attn compress: a model with 8 bits a weight.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/nn/state.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "model.safetensors";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;  ///< of a vocabulary or a card

struct CompressOptions {
  std::string model;
  std::string out;
};

int compress(const CompressOptions& options, const Streams& streams) {
  const fs::path from = model_folder(options.model, "");
  const fs::path to = options.out;
  if (!fs::is_regular_file(from / kWeights))
    fail<FileError>(from.string(), " holds no ", kWeights);
  std::error_code error;
  if (fs::exists(to / kWeights, error))
    fail<FileError>(to.string(), " holds a model already; name another folder");
  check_output_folder(to);
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from))
    if (entry.is_regular_file() && entry.path().filename() != kWeights)
      files::atomic_write(to / entry.path().filename(),
                          files::read_text(entry.path(), kMostBytes));
  nn::compress_state(from / kWeights, to / kWeights);  // last: a folder with weights is whole
  const auto mebibytes = [](const fs::path& path) {
    return static_cast<double>(fs::file_size(path)) / (1 << 20);
  };
  fmt::print(streams.out, "{}: weights of {:.2f} MiB became {:.2f} MiB\n",
             files::printable(to.string()), mebibytes(from / kWeights),
             mebibytes(to / kWeights));
  return success;
}

}  // namespace

void add_compress(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompressOptions>();
  CLI::App* command =
      app.add_subcommand("compress", "Write a model again with 8 bits a weight: half as large");
  command->footer(
      "\nEach row of a matrix becomes whole numbers of one byte and one scale. The new folder\n"
      "answers wherever the old one did, and as fast; what it costs in score, attn eval says:\n"
      "compare both before you ship it. A model trained on from it (--begin) begins with the\n"
      "coarser weights.\n"
      "\nExamples:\n"
      "    attn compress translate --out smaller\n"
      "    attn eval translate --model smaller");
  command
      ->add_option("model", options->model, "Folder of a model, or the name of one that ships")
      ->required();
  command->add_option("--out", options->out, "Folder for the smaller model")->required();
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return compress(*options, streams); };
  });
}

}  // namespace attn::tools
