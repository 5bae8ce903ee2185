// Formulas of the registry as TeX: each kind of thing that the dialect has.

#include "tools/attn/tex.hpp"

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attn/nn/registry.hpp"

namespace attn::tools {
namespace {

using Statements = std::vector<std::string>;

TEST(Tex, SetsNamesScriptsAndSigns) {
  EXPECT_EQ(tex("w = softmax(q . k)"), Statements{"w = \\text{softmax}(q \\cdot k)"});
  EXPECT_EQ(tex("e_ij = q_i^T W_out k_{t-1}"),
            Statements{"e_{ij} = q_{i}^{\\top} W_{\\text{out}} k_{t - 1}"});
  EXPECT_EQ(tex("k^T / sqrt(d) <= W1 alpha"),
            Statements{"k^{\\top} / \\sqrt{d} \\le W_{1} \\alpha"});
  EXPECT_EQ(tex("[->h; <-h]"), Statements{"[\\overrightarrow{h} ; \\overleftarrow{h}]"});
}

TEST(Tex, SeparatesStatementsButNotLists) {
  EXPECT_EQ(tex("a = b, c = d; again e"), (Statements{"a = b", "c = d", "\\text{ again } e"}));
  EXPECT_EQ(tex("a = clip(b, -m, m)"), Statements{"a = \\text{clip}(b, - m, m)"});
  EXPECT_EQ(tex("f = sum_i x_i over valid, unvisited j").size(), 1u);
}

TEST(Tex, ClosesWhatItOpensInEveryFormula) {
  for (const nn::Mechanism* mechanism : nn::mechanisms()) {
    for (const std::string& statement : tex(mechanism->formula)) {
      EXPECT_FALSE(statement.empty()) << mechanism->name;
      EXPECT_EQ(std::count(statement.begin(), statement.end(), '{'),
                std::count(statement.begin(), statement.end(), '}'))
          << mechanism->name << ": " << statement;
    }
  }
}

}  // namespace
}  // namespace attn::tools
