// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "tools/attn/answering.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

/// Text that was given in the place of a file: it has a space, and no file is called so.
bool is_text(const std::string& argument) {
  std::error_code ignored;
  return argument.find_first_of(" \t\n") != std::string::npos &&
         !std::filesystem::exists(argument, ignored);
}

std::string text_of(const std::string& argument) {
  if (is_text(argument)) return argument;
  std::error_code ignored;
  if (!std::filesystem::exists(argument, ignored))
    fail<FileError>(files::in_quotes(argument),
                    " cannot be opened: there is no such file; a text ",
                    "is given with --text, or as lines of standard input with -");
  return files::read_text(argument, kLargestFile);
}

}  // namespace

void add_summarise(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnswerOptions>();
  auto text = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("summarise", "A description becomes one line, rare words copied");
  command->footer(
      "\nThe model that ships learnt to write the synopsis of a Debian package from its long\n"
      "description. It copies names it has never seen from the text. What stands after the "
      "first\n"
      "hundred words or so is not read.\n"
      "\nExamples:\n"
      "    attn summarise README.txt\n"
      "    apt-cache show --no-all-versions hello | sed -n 's/^ //p' > d.txt; attn summarise "
      "d.txt\n"
      "    attn summarise - < one-text-a-line.txt\n"
      "    attn summarise \"Frobnix is a fast web server. It needs little memory.\"\n"
      "    attn summarise --text \"$(xclip -o)\" --show");
  CLI::Option* files =
      command
          ->add_option("files", options->texts,
                       "Text files, a text in quotes, or - for one text a line")
          ->type_name("FILE");
  command->add_option("--text", *text, "The text itself")->excludes(files);
  add_answer_options(*command, "summarise", *options);
  command->callback([options, text, &action] {
    action = [options, text](const Streams& streams) {
      if (!text->empty()) return answer_texts("summarise", *options, {*text}, streams);
      if (options->texts.empty()) {
        fmt::print(streams.err, "attn summarise: name a file, - or --text TEXT\n");
        return static_cast<int>(usage);
      }
      if (options->texts.size() == 1 && options->texts[0] == "-")
        return answer_all("summarise", *options, streams);
      std::vector<std::string> texts;
      texts.reserve(options->texts.size());
      for (const std::string& file : options->texts) texts.push_back(text_of(file));
      return answer_texts("summarise", *options, texts, streams);
    };
  });
}

}  // namespace attn::tools
