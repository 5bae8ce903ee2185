// An encoder and a decoder: joined by one context, and by attention.

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>
#include <vector>

#include "attn/maps/map.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

using maps::Part;
using maps::Role;

const std::vector<std::string> kSource{"Tom", "chases", "Jerry"};
const std::vector<std::string> kTarget{"Tom", "insegue", "Jerry"};
const std::vector<std::string> kRead{"‹begin›", "Tom", "insegue"};

struct Chain {
  std::vector<Part> states;
};

/// Words below, states above them, each passed on to the next.
Chain chain(Sheet& sheet, double x, double y, const std::vector<std::string>& words,
            const std::string& letter, Role role) {
  Chain all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double left = x + 105.0 * static_cast<double>(i);
    const Part state = sheet.part(left, y, 70.0, 38.0, letter + std::to_string(i + 1), role);
    sheet.note(left + 35.0, y + 82.0, words[i]);
    sheet.arrow({{left + 35.0, y + 70.0}, below(state)});
    if (i > 0) sheet.arrow({right_of(all.states.back()), left_of(state)}, role);
    all.states.push_back(state);
  }
  return all;
}

void write_words(Sheet& sheet, const Chain& decoder, double y) {
  for (std::size_t i = 0; i < kTarget.size(); ++i) {
    const maps::Point top = above(decoder.states[i]);
    sheet.arrow({top, {top.x, y + 12.0}}, Role::output);
    sheet.note(top.x, y, kTarget[i], maps::NoteAnchor::centre, Role::output);
  }
}

}  // namespace

maps::Diagram seq2seq_diagram() {
  Sheet sheet("Sequence to sequence through one context",
              "The encoder reads the source into states h; the last of them is the context c, "
              "which is all that the decoder knows of the source at every step. The longer the "
              "sentence, the more has to fit into c.");
  sheet.heading(140.0, 12.0, "encoder");
  sheet.heading(560.0, 12.0, "decoder");
  const Chain encoder = chain(sheet, 0.0, 110.0, kSource, "h", Role::key);
  const Chain decoder = chain(sheet, 420.0, 110.0, kRead, "s", Role::query);
  const Part c = sheet.part(325.0, 108.0, 46.0, 42.0, "c", Role::output, "context");
  sheet.arrow({right_of(encoder.states.back()), left_of(c)}, Role::key);
  sheet.arrow({right_of(c), left_of(decoder.states[0])}, Role::output);
  for (const std::size_t i : {1u, 2u}) {
    const Part& state = decoder.states[i];
    sheet.arrow(
        {above(c), {above(c).x, 84.0}, {state.x + 12.0, 84.0}, {state.x + 12.0, state.y}},
        Role::output);
  }
  write_words(sheet, decoder, 50.0);
  return sheet.take();
}

maps::Diagram seq2seq_attention_diagram() {
  const LessonTable weights = equal_weights_lesson().tables[1];
  const std::vector<double>& looked = weights.row("insegue");
  Sheet sheet(
      "Sequence to sequence with attention",
      "While the decoder writes \"insegue\", its state s1 is the query; the states of the "
      "encoder are keys and values. Their average by the weights is the context of this "
      "word alone, c2; every word has another.");
  sheet.heading(140.0, 12.0, "encoder");
  sheet.heading(560.0, 12.0, "decoder");
  const Chain encoder = chain(sheet, 0.0, 240.0, kSource, "h", Role::key);
  const Chain decoder = chain(sheet, 420.0, 240.0, kRead, "s", Role::query);
  const Part sum =
      sheet.part(90.0, 100.0, 100.0, 40.0, "attention", Role::score, "softmax(score)");
  const Part c = sheet.part(300.0, 99.0, 60.0, 42.0, "c2", Role::output, "context");
  for (std::size_t i = 0; i < looked.size(); ++i)
    sheet.arrow({above(encoder.states[i]),
                 {sum.x + 25.0 + 25.0 * static_cast<double>(i), below(sum).y}},
                Role::score, two_digits(looked[i]), static_cast<float>(looked[i]));
  sheet.arrow({right_of(sum), left_of(c)}, Role::output);
  const Part& first = decoder.states[0];
  const Part& second = decoder.states[1];
  sheet.arrow({{first.x + 15.0, first.y},
               {first.x + 15.0, 180.0},
               {230.0, 180.0},
               {230.0, 132.0},
               {sum.x + sum.width, 132.0}},
              Role::query, "query s1");
  sheet.arrow({right_of(c), {second.x + 15.0, right_of(c).y}, {second.x + 15.0, second.y}},
              Role::output);
  write_words(sheet, decoder, 60.0);
  return sheet.take();
}

}  // namespace attn::tools
