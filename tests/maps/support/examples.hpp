/// A small map of every kind, with awkward labels and numbers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "attn/maps/map.hpp"

namespace attn::maps {

inline Alignment alignment_example() {
  return {"Where \"it\" looked",
          "Rows sum to 1.",
          {"▁un", "▁server", "</s>"},
          {"▁a", "サーバー", "خادم", "</s>"},
          "written",
          "read",
          {3, 4, {0.1f, 0.7f, 0.1f, 0.1f, 0.0f, 0.25f, 0.75f, 0.0f, 1e-30f, 0.0f, 0.0f, 1.0f}}};
}

inline Heads heads_example() {
  const Matrix square{2, 2, {1.0f, 0.0f, 0.3f, 0.7f}};
  return {"Heads",
          "All of them.",
          {"I", "love"},
          {"I", "love"},
          {{"encoder", 1, 1, square, {}, {}},
           {"encoder", 1, 2, square, {}, {}},
           {"cross", 2, 1, {1, 2, {0.5f, 0.5f}}, Labels{"amo"}, {}}}};
}

inline Curve curve_example() {
  return {"CO₂",
          "A curve.",
          "year",
          "ppm",
          {{1958.25, 315.7}, {1960.0, 316.9}, {1e-17, -3.5}},
          {{"kernel", {1958.0, 1959.0}, {315.0, 316.5}}},
          {1959.5},
          {1, 3, {0.5f, 0.4f, 0.1f}}};
}

inline Document document_example() {
  return {
      "Reviews",
      "Two levels.",
      {{0.75f, {{"friendly", 0.9f}, {"staff", 0.1f}}}, {0.25f, {{"שלום", 0.6f}}}, {0.0f, {}}}};
}

inline Image image_example() {
  return {"Canvas",
          "Where it looked.",
          3,
          2,
          1,
          {0, 50, 100, 150, 200, 255},
          {{"seven", Matrix{2, 2, {0.7f, 0.1f, 0.1f, 0.1f}}, {{0.0, 0.0, 1.5, 2.0, 0.8f, "7"}}},
           {"of", {}, {{1.0, 0.0, 1.0, 1.0, {}, ""}}, {{0.0, 1.0}, {2.0, 0.5}}}}};
}

inline Training training_example() {
  return {"Training",
          "Loss and rate.",
          "steps",
          {{"loss", {1.0, 2.0, 3.0}, {2.5, 1.25, 0.625}, Axis::left},
           {"error", {1.0, 3.0}, {90.0, 10.0}, Axis::right}},
          "nats a token",
          "errors, %",
          {{"best", 3.0, 10.0, Axis::right}}};
}

inline Bars bars_example() {
  return {"Compared",
          "Higher is better.",
          "BLEU",
          {"with", "without"},
          {{"test", {24.5, -1.0}}, {"validation", {25.0, 0.0}}}};
}

inline Arcs arcs_example() {
  return {
      "A \"tree\"",
      "Arcs point at what depends.",
      {"The", "猫", "sat", "."},
      {"DET", "NOUN", "VERB", "PUNCT"},
      {{2, 1, "det", 0.99f}, {3, 2, "nsubj", 0.1f}, {0, 3, "root"}, {3, 4, "punct", 1e-9f}}};
}

inline Diagram diagram_example() {
  return {"Looking",
          "A query meets a key.",
          {{10.0, 20.0, 80.0, 30.0, "query", "q [4]", Role::query},
           {10.0, 90.0, 80.0, 30.0, "key <&>", "", Role::key}},
          {{{{90.0, 35.0}, {140.0, 35.0}, {140.0, 60.0}}, "q · k", Role::score, 0.25f},
           {{{50.0, 90.0}, {50.0, 50.0}}}},
          {{200.0, 10.0, "weights", NoteAnchor::centre, Role::output, true}},
          {{180.0, 40.0, 30.0, 20.0, {"un"}, {"a", "fast"}, {1, 2, {0.75f, 0.25f}}, true}}};
}

inline Speech speech_example() {
  return {"Two <words>", "Each row is a word.",
          1.5,           0.5,
          8000.0,        {2, 3, {0.0f, 0.5f, 1.0f, 1.0f, 0.25f, 0.0f}},
          {"un", "猫,"}, {1.5, 1.75},
          {1.75, 2.0},   {2, 3, {0.75f, 0.25f, 0.0f, 0.0f, 0.25f, 0.75f}}};
}

inline std::vector<Map> every_example() {
  return {alignment_example(), heads_example(),    curve_example(), document_example(),
          image_example(),     training_example(), bars_example(),  arcs_example(),
          diagram_example(),   speech_example()};
}

/// The kinds with nothing in them.
inline std::vector<Map> every_empty() {
  Alignment no_rows;
  no_rows.columns = {"a", "b"};
  no_rows.weights.columns = 2;
  Image no_steps;
  no_steps.width = no_steps.height = 1;
  no_steps.pixels = {9};
  return {Alignment{}, no_rows,    Heads{}, Curve{}, Document{}, Image{},
          no_steps,    Training{}, Bars{},  Arcs{},  Diagram{},  Speech{}};
}

}  // namespace attn::maps
