#include "tools/attn/subwords.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/child.hpp"
#include "attn/text/tokeniser.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {

text::Tokeniser learn_subwords(std::span<const std::string> lines, std::int64_t size) {
  const std::filesystem::path program = program_beside("attn-vocabulary");
  if (program.empty())
    fail<Unsupported>(
        "attn-vocabulary was not built, so subwords cannot be trained: it needs SentencePiece "
        "(on Debian libsentencepiece-dev). Characters and words need nothing: "
        "--source-units characters --target-units words");
  const tasks::ScratchFolder scratch(tasks::temporary_folder());
  const std::filesystem::path input = scratch.path() / "lines.txt";
  const std::filesystem::path output = scratch.path() / "subwords.vocab";
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    // A text is a line, whatever it holds.
    std::replace(text.end() - static_cast<std::ptrdiff_t>(line.size()), text.end(), '\n', ' ');
    text += '\n';
  }
  files::atomic_write(input, text);
  const std::filesystem::path log = scratch.path() / "log";
  if (tasks::run_program({program.string(), "--size", std::to_string(size), "--byte-fallback",
                          "--out", output.string(), input.string()},
                         log) != tasks::Ended::well)
    fail<Error>("attn-vocabulary could not train ", size, " subwords:\n",
                tasks::complaint(log));
  return text::Tokeniser::read(output);
}

}  // namespace attn::tools
