// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "tools/attn/command.hpp"

int main(int argc, char** argv) {
  return attn::tools::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
