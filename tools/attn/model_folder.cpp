#include "tools/attn/model_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// A build folder lies at most this deep in the source tree: build/release/bin.
constexpr int kDeepestBuild = 4;

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : self.parent_path();
}

/// The folders that models that ship may lie in.
std::vector<fs::path> places() {
  std::vector<fs::path> places;
  if (const char* models = std::getenv("ATTN_MODELS"); models != nullptr && *models != '\0')
    places.emplace_back(models);
  const fs::path own = own_folder();
  places.push_back(own.parent_path() / "share" / "attn" / "models");
  fs::path above = own;
  for (int i = 0; i < kDeepestBuild && above.has_relative_path(); ++i) {
    above = above.parent_path();
    places.push_back(above / "models");
  }
  return places;
}

bool is_model(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored);
}

[[noreturn]] void fail_no_such_model(const std::string& named) {
  std::vector<std::string> names;
  for (const auto& [name, folder] : shipped_models()) names.push_back(name);
  const auto close = nearest(named, names);
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  fail<FileError>(
      "there is no model ", files::in_quotes(named), ", neither a folder nor one ",
      "that ships", close ? "; did you mean " + *close + "?" : "",
      all.empty() ? "" : "\nThose that ship: " + all + " (attn models tells of them)");
}

}  // namespace

std::optional<fs::path> shipped_model(const std::string& name) {
  for (const fs::path& place : places())
    if (is_model(place / name)) return place / name;
  return std::nullopt;
}

std::map<std::string, fs::path> shipped_models() {
  std::map<std::string, fs::path> models;
  for (const fs::path& place : places()) {
    std::error_code error;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end;
         entry.increment(error))
      if (is_model(entry->path()))
        models.emplace(entry->path().filename().string(), entry->path());  // the first is taken
  }
  return models;
}

fs::path model_folder(const std::string& named, const std::string& task) {
  std::error_code ignored;
  if (!named.empty()) {
    const bool name_alone = named.find('/') == std::string::npos && !fs::exists(named, ignored);
    if (!name_alone) return named;
    if (const auto folder = shipped_model(named)) return *folder;
    fail_no_such_model(named);
  }
  if (const auto folder = shipped_model(task)) return *folder;
  std::string looked;
  for (const fs::path& place : places()) looked += "\n  " + files::path_text(place / task);
  fail<FileError>("there is no trained model for ", task, "; looked in", looked,
                  "\nName one with --model DIR, or train one: attn train ",
                  task.substr(0, task.find('-')), " --out DIR");
}

fs::path program_beside(const std::string& name) {
  const fs::path program = own_folder() / name;
  std::error_code ignored;
  return fs::exists(program, ignored) ? program : fs::path();
}

}  // namespace attn::tools
