// The program attn-sound: a sound file of any format, rate and channels becomes plain numbers.
// A program of its own, so that attn loads no decoders, and a file that breaks one of them does
// not break attn.
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "attn/core/error.hpp"
#include "tools/sound/sound_file.hpp"

namespace {

int run(int argc, char** argv) {
  std::string path;
  std::int64_t rate = 16000;
  bool seconds = false;
  CLI::App app(
      "Writes a sound file to standard output as one channel of little-endian 32-bit real\n"
      "numbers within -1..1. What is odd about the file is told on standard error.",
      "attn-sound");
  app.add_option("file", path, "WAV, AIFF, AU, CAF, FLAC, Ogg or MP3")
      ->required()
      ->type_name("FILE");
  app.add_option("--rate", rate, "Samples a second to write; default 16000")
      ->check(CLI::Range(1000, 192000));
  app.add_flag("--seconds", seconds,
               "Write how long the sound is by its header, 0 where that is unknown, and decode "
               "nothing");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  attn::sound::SoundFile file(path);
  if (seconds) {
    std::printf("%.3f\n", file.seconds());
    return 0;
  }
  file.read(rate, [](std::span<const float> samples) {
    if (std::fwrite(samples.data(), sizeof(float), samples.size(), stdout) != samples.size())
      attn::fail<attn::FileError>("the samples cannot be written; is the disk full?");
  });
  if (std::fflush(stdout) != 0)
    attn::fail<attn::FileError>("the samples cannot be written; is the disk full?");
  for (const std::string& note : file.notes()) std::fprintf(stderr, "%s\n", note.c_str());
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
