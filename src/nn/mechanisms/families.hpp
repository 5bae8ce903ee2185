/// The families of mechanisms, each with its list.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <vector>

#include "attn/nn/registry.hpp"

namespace attn::nn {

// Each is defined in src/nn/mechanisms/<family>/register.cpp.
std::vector<Mechanism> pooling_mechanisms();
std::vector<Mechanism> regression_mechanisms();
std::vector<Mechanism> score_mechanisms();
std::vector<Mechanism> heads_mechanisms();
std::vector<Mechanism> seq2seq_mechanisms();
std::vector<Mechanism> local_mechanisms();
std::vector<Mechanism> hard_mechanisms();
std::vector<Mechanism> glimpse_mechanisms();
std::vector<Mechanism> position_mechanisms();
std::vector<Mechanism> pointer_mechanisms();
std::vector<Mechanism> vision_mechanisms();
std::vector<Mechanism> composed_mechanisms();
std::vector<Mechanism> applied_mechanisms();
std::vector<Mechanism> control_mechanisms();

inline constexpr std::array kFamilies{
    &pooling_mechanisms,  &regression_mechanisms, &score_mechanisms,  &heads_mechanisms,
    &seq2seq_mechanisms,  &local_mechanisms,      &hard_mechanisms,   &glimpse_mechanisms,
    &position_mechanisms, &pointer_mechanisms,    &vision_mechanisms, &composed_mechanisms,
    &applied_mechanisms,  &control_mechanisms,
};

}  // namespace attn::nn
