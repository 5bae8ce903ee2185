/// What a model folder and its card tell: task, purpose, score, what had to be reached, size.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attn::tools {

struct ModelFacts {
  std::string name;
  std::string task;
  std::string purpose;  ///< the title of its card
  std::string score;    ///< of its card; else that on the development part
  std::string floor;    ///< the least score that is wanted; "": none is set
  std::string goal;     ///< the score that is hoped for; "": none is set
  std::string figure;   ///< what it draws, a file under docs; "": none
  std::uintmax_t bytes = 0;
  std::filesystem::path folder;
};

/// Of the models that ship, by name.
std::vector<ModelFacts> facts_of_models();

}  // namespace attn::tools
