#include "tools/attn/model_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

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

/// Where a model that ships may lie.
std::vector<fs::path> places_of(const std::string& model) {
  std::vector<fs::path> places;
  if (const char* models = std::getenv("ATTN_MODELS"); models != nullptr && *models != '\0')
    places.emplace_back(fs::path(models) / model);
  const fs::path own = own_folder();
  places.push_back(own.parent_path() / "share" / "attn" / "models" / model);
  fs::path above = own;
  for (int i = 0; i < kDeepestBuild && above.has_relative_path(); ++i) {
    above = above.parent_path();
    places.push_back(above / "models" / model);
  }
  return places;
}

}  // namespace

std::optional<fs::path> shipped_model(const std::string& name) {
  std::error_code ignored;
  for (const fs::path& place : places_of(name))
    if (fs::exists(place / "config.json", ignored)) return place;
  return std::nullopt;
}

fs::path model_folder(const std::string& named, const std::string& task) {
  std::error_code ignored;
  if (!named.empty()) {
    const bool name_alone = named.find('/') == std::string::npos && !fs::exists(named, ignored);
    return name_alone ? shipped_model(named).value_or(named) : fs::path(named);
  }
  if (const auto folder = shipped_model(task)) return *folder;
  std::string looked;
  for (const fs::path& place : places_of(task)) looked += "\n  " + files::path_text(place);
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
