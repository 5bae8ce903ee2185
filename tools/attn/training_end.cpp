#include "tools/attn/training_end.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/invocation.hpp"

namespace attn::tools {

void check_training_folder(const std::filesystem::path& folder, tasks::Resume resume) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(folder / "checkpoint.safetensors", ignored);
  if (resume == tasks::Resume::yes && !there)
    fail<FileError>(files::path_text(folder), " holds no checkpoint to go on from");
  if (resume == tasks::Resume::no && there)
    fail<FileError>(files::path_text(folder),
                    " holds a training already; go on with --resume, or name another folder");
  for (const char* part : {"config.json", "model.safetensors"})
    if (resume == tasks::Resume::no && std::filesystem::exists(folder / part, ignored))
      fail<FileError>(files::path_text(folder), " holds a model already; name another folder");
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char letter) {
    // Bytes of other scripts are letters to every shell.
    return static_cast<unsigned char>(letter) >= 0x80 ||
           std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_-+./,:=@%").find(letter) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::string budget_text(const tasks::Budget& budget) {
  std::string text;
  if (budget.minutes > 0.0) text += fmt::format(" --minutes {:g}", budget.minutes);
  if (budget.epochs > 0) text += fmt::format(" --epochs {}", budget.epochs);
  if (budget.steps > 0) text += fmt::format(" --steps {}", budget.steps);
  return text;
}

void tell_end_of_training(const std::string& task, const std::string& out,
                          const std::filesystem::path& data, const tasks::Trained& trained,
                          const Streams& streams) {
  const char* why = trained.ended == tasks::TrainingEnd::stopped     ? "Stopped"
                    : trained.ended == tasks::TrainingEnd::no_better ? "No better for a while"
                                                                     : "Done";
  fmt::print(streams.out, "{} after {} steps ({:.1f} minutes of training){}.\n", why,
             trained.steps, trained.minutes,
             trained.best.empty()
                 ? ", before the first evaluation"
                 : "; best on the development part: " + tasks::text_of(trained.best));
  if (!trained.best.empty())
    fmt::print(streams.out, "The model is in {}. Score it: {} eval {} --model {}{}\n", out,
               invocation(), task, shell_word(out),
               data.empty() ? "" : " --data " + shell_word(data.string()));
  fmt::print(streams.out, "Go on: {} train {} --out {} --resume --minutes 10\n", invocation(),
             task, shell_word(out));
}

}  // namespace attn::tools
