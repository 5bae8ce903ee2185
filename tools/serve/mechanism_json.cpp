#include "tools/serve/mechanism_json.hpp"

#include <nlohmann/json.hpp>

#include "attn/nn/registry.hpp"
#include "tools/serve/mechanism_use.hpp"

namespace attn::serve {

nlohmann::json mechanism_json(const nn::Mechanism& mechanism) {
  return {{"name", mechanism.name},
          {"family", mechanism.family},
          {"title", mechanism.title},
          {"formula", mechanism.formula},
          {"paper", mechanism.paper},
          {"made_of", mechanism.made_of},
          {"options", mechanism.options},
          {"snippet", nn::program_of(mechanism)},
          {"header", mechanism.header},
          {"gradient_check", bool(mechanism.example)},
          {"used_by", use_text(mechanism.name)}};
}

nlohmann::json mechanisms_json() {
  auto all = nlohmann::json::array();
  for (const nn::Mechanism* mechanism : nn::mechanisms())
    all.push_back(mechanism_json(*mechanism));
  return all;
}

}  // namespace attn::serve
