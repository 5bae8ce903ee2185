#include "tools/attn/training_config.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

std::string beside(const fs::path& config, const std::string& path) {
  return (fs::absolute(config).parent_path() / path).lexically_normal().string();
}

[[noreturn]] void refuse_member(const std::string& where, const std::string& name,
                                const tasks::TrainingRun& run) {
  const std::vector<std::string> members = tasks::run_members(run);
  if (const auto near = nearest(name, members))
    fail<FileError>(where, ": there is no ", files::in_quotes(name), "; did you mean ",
                    files::in_quotes(*near), "?");
  // "dim" for "model.dim".
  std::string list;
  for (const std::string& member : members) {
    if (member.ends_with("." + name))
      fail<FileError>(where, ": there is no ", files::in_quotes(name), "; did you mean ",
                      files::in_quotes(member), "?");
    list += (list.empty() ? "" : ", ") + member;
  }
  fail<FileError>(where, ": there is no ", files::in_quotes(name), "; there are ", list);
}

}  // namespace

nlohmann::json read_config(const fs::path& path, const tasks::Task& task) {
  const std::string where = files::path_text(path);
  nlohmann::json config = files::read_json(path);
  if (!config.is_object())
    fail<FileError>(where, " is ", config.type_name(), "; an object is accepted, such as ",
                    "{\"data\": \"mine.tsv\", \"budget\": {\"minutes\": 3}}");
  if (config.contains("task") && config["task"] != task.name())
    fail<FileError>(where, " is a training of ", files::printable(config["task"].dump()),
                    ", not of ", task.name());
  const tasks::TrainingRun run = task.defaults({}, nullptr);
  if (const auto unknown = tasks::unknown_members(config, run); !unknown.empty())
    refuse_member(where, unknown.front(), run);
  if (config.contains("data") && config["data"].is_string() &&
      !config["data"].get_ref<const std::string&>().empty())
    config["data"] = beside(path, config["data"].get<std::string>());
  if (config.contains("begin") && config["begin"].is_array())
    for (nlohmann::json& folder : config["begin"])
      if (folder.is_string()) folder = beside(path, folder.get<std::string>());
  return config;
}

}  // namespace attn::tools
