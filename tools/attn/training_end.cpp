#include "tools/attn/training_end.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/trainer.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

void check_training_folder(const std::filesystem::path& folder, tasks::Resume resume) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(folder / "checkpoint.safetensors", ignored);
  if (resume == tasks::Resume::yes && !there)
    fail<FileError>(files::path_text(folder), " holds no checkpoint to go on from");
  if (resume == tasks::Resume::no && there)
    fail<FileError>(files::path_text(folder),
                    " holds a training already; go on with --resume, or name another folder");
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
    fmt::print(streams.out, "The model is in {}. Score it: attn eval {} --model {}{}\n", out,
               task, out, data.empty() ? "" : " --data " + data.string());
  fmt::print(streams.out, "Go on: attn train {} --out {} --resume --minutes 10\n", task, out);
}

}  // namespace attn::tools
