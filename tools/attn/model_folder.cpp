#include "tools/attn/model_folder.hpp"

#include <cstdlib>
#include <filesystem>
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

}  // namespace

fs::path model_folder(const std::string& named, const std::string& task) {
  if (!named.empty()) return named;
  std::vector<fs::path> places;
  if (const char* models = std::getenv("ATTN_MODELS"); models != nullptr && *models != '\0')
    places.emplace_back(fs::path(models) / task);
  const fs::path own = own_folder();
  places.push_back(own.parent_path() / "share" / "attn" / "models" / task);
  fs::path above = own;
  for (int i = 0; i < kDeepestBuild && above.has_relative_path(); ++i) {
    above = above.parent_path();
    places.push_back(above / "models" / task);
  }
  std::string looked;
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::exists(place / "config.json", ignored)) return place;
    looked += "\n  " + files::path_text(place);
  }
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
