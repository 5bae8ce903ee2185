// The program attn: its arguments go to run().

// SPDX-License-Identifier: Apache-2.0

#include <ios>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"

int main(int argc, char** argv) {
  // A stream with a buffer of its own can tell whether a further line waits.
  std::ios::sync_with_stdio(false);
  return attn::tools::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
