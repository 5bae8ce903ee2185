// Things on a desk: an average needs no query, what stands out needs none of mine, a wish is
// one.

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/attend.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {

LessonResult cues_lesson() {
  const std::vector<std::string> things{"newspaper", "paper", "red cup", "notebook", "book"};
  // How much each stands out, can be read, can be drunk.
  const Tensor keys = of_numbers({0.2, 0.7, 0.0,   //
                                  0.1, 0.6, 0.0,   //
                                  1.0, 0.0, 1.0,   //
                                  0.1, 0.4, 0.0,   //
                                  0.2, 1.0, 0.0},  //
                                 {1, 5, 3});
  const Tensor queries = of_numbers({0.0, 0.0, 0.0,   //
                                     5.0, 0.0, 0.0,   //
                                     0.0, 5.0, 0.0,   //
                                     0.0, 0.0, 5.0},  //
                                    {1, 4, 3});
  const std::vector<std::string> cues{"no query", "what stands out", "I want to read",
                                      "I want to drink"};
  const Tensor weights =
      attend(queries, keys, {}, spec::dot(), {}, spec::softmax(), Want::weights).weights;
  LessonResult result;
  std::vector<std::string> columns{"query"};
  columns.insert(columns.end(), things.begin(), things.end());
  result.tables.push_back({"Weights, softmax(q . k)", columns, rows_of(cues, weights)});
  result.remarks = {"Without a query all keys score 0 and the average is uniform.",
                    "A query that never changes finds what stands out, whatever I want: a "
                    "non-volitional cue.",
                    "A query of mine finds what I want: a volitional cue. Attention is pooling "
                    "with a query."};
  result.figure = maps::Alignment{
      .title = "Cues: who asks decides what is looked at",
      .caption =
          "Each row is a query and its weights over five things on a desk. The first asks "
          "for nothing and averages; the second always asks for what stands out; the last "
          "two ask for what is wanted.",
      .rows = cues,
      .columns = things,
      .row_title = "query",
      .column_title = "keys",
      .weights = matrix_of(weights)};
  return result;
}

}  // namespace attn::tools
