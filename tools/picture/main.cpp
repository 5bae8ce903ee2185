// The program attn-picture: a picture of any format becomes plain bytes, with its size before
// them. A program of its own, so that attn loads no decoders, and a file that breaks one of
// them does not break attn. SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "attn/core/error.hpp"
#include "tools/picture/picture_file.hpp"

namespace {

/// Of the processor; a file that takes longer is made to.
constexpr rlim_t kSeconds = 60;

void write(const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, stdout) != size)
    attn::fail<attn::FileError>("the pixels cannot be written; is the disk full?");
}

void write_frame(const attn::picture::Frame& frame) {
  std::array<unsigned char, 12> head{};
  std::size_t at = 0;
  for (const std::int64_t number : {frame.width, frame.height, frame.milliseconds})
    for (unsigned shift = 0; shift < 32; shift += 8)
      head.at(at++) = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> shift);
  write(head.data(), head.size());
  write(frame.pixels.data(), frame.pixels.size());
}

int run(int argc, char** argv) {
  std::string path;
  bool all = false;
  CLI::App app(
      "Writes a picture to standard output: width, height and the milliseconds that it is\n"
      "shown, as little-endian 32-bit numbers, then rows of red, green and blue bytes.",
      "attn-picture");
  app.add_option("file", path, "PNG, JPEG or GIF")->required()->type_name("FILE");
  app.add_flag("--frames", all, "All frames of a GIF, one behind another; else the first");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const rlimit limit{kSeconds, kSeconds};
  (void)::setrlimit(RLIMIT_CPU, &limit);
  attn::picture::read_frames(
      path, all ? attn::picture::Which::all : attn::picture::Which::first, write_frame);
  if (std::fflush(stdout) != 0)
    attn::fail<attn::FileError>("the pixels cannot be written; is the disk full?");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
