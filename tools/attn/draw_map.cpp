#include "tools/attn/draw_map.hpp"

#include <stdio.h>  // fileno
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/show.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/output_path.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kEndings{".json", ".svg", ".pdf", ".png"};

/// In small letters, so that FIGURE.PDF is one too.
std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  // NOLINTNEXTLINE(misc-include-cleaner): <sys/ioctl.h> is where it is documented to be
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

fs::path drawing_program(const fs::path& picture) {
  fs::path program = program_beside("attn-draw");
  if (program.empty())
    fail<Unsupported>(
        "attn-draw was not built, so ", files::path_text(picture),
        " cannot be drawn: it needs Pango and Cairo (on Debian libpango1.0-dev and "
        "libcairo2-dev). A file that ends with .json needs nothing");
  return program;
}

}  // namespace

std::string map_file_problem(const std::string& path) {
  const std::string ending = ending_of(path);
  if (std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end()) return "";
  return files::path_text(path) +
         ": the ending says what is written; accepted: .json (the numbers), .svg, .pdf, .png";
}

void check_map_output(const fs::path& path) {
  if (const std::string problem = map_file_problem(path.string()); !problem.empty())
    fail(problem);
  check_output_file(path);
  if (ending_of(path) != ".json") drawing_program(path);
}

std::string write_map(const maps::Map& map, const fs::path& path) {
  if (const std::string problem = map_file_problem(path.string()); !problem.empty())
    fail(problem);
  const std::string json = maps::to_json(map) + "\n";
  if (ending_of(path) == ".json") {
    files::atomic_write(path, json);
    return "";
  }
  const fs::path program = drawing_program(path);
  const tasks::ScratchFolder scratch(tasks::temporary_folder());
  const fs::path input = scratch.path() / "map.json";
  const fs::path log = scratch.path() / "log";
  files::atomic_write(input, json);
  // "--out=": a file name may begin with a dash.
  if (tasks::run_program({program.string(), "--out=" + path.string(), input.string()}, log) !=
      tasks::Ended::well)
    fail<Error>("attn-draw could not draw ", files::path_text(path), ": ",
                tasks::complaint(log));
  return tasks::complaint(log);
}

void show_map(const maps::Map& map, std::FILE* out) {
  const int descriptor = ::fileno(out);
  const bool terminal = descriptor >= 0 && ::isatty(descriptor) != 0;
  const char* plain = std::getenv("NO_COLOR");
  const bool colour = terminal && (plain == nullptr || *plain == '\0');
  const std::string text = maps::show(map, terminal ? terminal_columns(descriptor) : 80,
                                      colour ? maps::Colour::full : maps::Colour::none);
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace attn::tools
