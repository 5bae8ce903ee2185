/// Running the program inside a test and hearing what it says.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"

namespace attn::tools {

struct Said {
  int status = 0;
  std::string out;
  std::string err;

  std::string last_line() const {
    const std::string text = out.substr(0, out.find_last_not_of('\n') + 1);
    return text.substr(text.rfind('\n') + 1);
  }
};

inline std::string content(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

inline Said say(const std::vector<std::string>& arguments) {
  const Streams streams{std::tmpfile(), std::tmpfile()};
  Said said;
  said.status = run(arguments, streams);
  said.out = content(streams.out);
  said.err = content(streams.err);
  return said;
}

}  // namespace attn::tools
