// Pictures of maps have their cells, colours and labels where they belong, in every format.

#include "attn/drawing/draw.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/pooled.hpp"
#include "drawing/support/picture.hpp"
#include "maps/support/examples.hpp"
#include "support/tolerance.hpp"

namespace attn::drawing {
namespace {

using maps::Alignment;
using maps::Map;
using maps::Matrix;

/// A matrix whose weights are all different.
Alignment square(std::size_t rows, std::size_t columns) {
  Alignment map;
  map.title = "known";
  map.rows.assign(rows, "row");
  map.columns.assign(columns, "column");
  map.weights = {rows, columns, {}};
  const auto count = static_cast<float>(rows * columns);
  for (std::size_t i = 0; i < rows * columns; ++i)
    map.weights.values.push_back(static_cast<float>(i + 1) / count);
  return map;
}

/// The first rows x columns rectangles are the cells, row after row, on one lattice.
void expect_cells(const std::vector<FilledRect>& all, const Matrix& weights, float top) {
  ASSERT_GE(all.size(), weights.values.size());
  const double step_x = weights.columns > 1 ? all[1].x - all[0].x : 0.0;
  const double step_y = weights.rows > 1 ? all[weights.columns].y - all[0].y : 0.0;
  for (std::size_t row = 0; row < weights.rows; ++row)
    for (std::size_t column = 0; column < weights.columns; ++column) {
      const FilledRect& cell = all[row * weights.columns + column];
      EXPECT_DOUBLE_EQ(cell.x, all[0].x + static_cast<double>(column) * step_x);
      EXPECT_DOUBLE_EQ(cell.y, all[0].y + static_cast<double>(row) * step_y);
      EXPECT_NEAR(cell.width, all[0].width, 0.5);
      EXPECT_NEAR(cell.height, all[0].width, 0.5) << "cells are squares";
      EXPECT_EQ(cell.colour, maps::colour_of(weights.at(row, column), top))
          << row << ", " << column;
    }
  EXPECT_GE(step_x + 1e-9, weights.columns > 1 ? all[0].width - 0.5 : 0.0) << "no overlap";
}

TEST(Draw, TheSvgOfAKnownMatrixHasItsCellsInPlaceAndColour) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::size_t, std::size_t>>{{3, 5}, {1, 1}, {7, 2}, {60, 60}}) {
    const Alignment map = square(rows, columns);
    expect_cells(rectangles(draw(map, Format::svg)), map.weights, 1.0f);
  }
}

TEST(Draw, SmallWeightsUseTheWholeScale) {
  Alignment map = square(4, 4);
  for (float& weight : map.weights.values) weight *= 0.04f;
  expect_cells(rectangles(draw(map, Format::svg)), map.weights, 0.05f);
}

TEST(Draw, AnEmptyCellHasNoNumber) {
  const auto glyphs = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find("<use "); at != std::string::npos;
         at = svg.find("<use ", at + 1))
      ++count;
    return count;
  };
  Alignment map = square(3, 3);
  const std::size_t all = glyphs(draw(map, Format::svg));
  map.weights.values[0] = 0.004f;
  map.weights.values[4] = 0.0f;
  EXPECT_EQ(glyphs(draw(map, Format::svg)), all - 2 * std::string("0.00").size());
}

TEST(Draw, ThePngHasTheColourOfACellInItsMiddle) {
  // Cells small enough to carry no number.
  const Alignment map = square(20, 20);
  const auto cells = rectangles(draw(map, Format::svg));
  for (const double scale : {1.0, 2.0, 3.0}) {
    const Decoded png(draw(map, Format::png, {.scale = scale}));
    for (std::size_t i = 0; i < map.weights.values.size(); ++i) {
      const FilledRect& cell = cells[i];
      EXPECT_EQ(png.at(static_cast<int>((cell.x + cell.width / 2.0) * scale),
                       static_cast<int>((cell.y + cell.height / 2.0) * scale)),
                maps::colour_of(map.weights.values[i], 1.0f))
          << i;
    }
  }
}

TEST(Draw, SvgAndPngHaveOneSize) {
  for (const Map& map : maps::every_example()) {
    const std::string svg = draw(map, Format::svg);
    const Decoded png(draw(map, Format::png, {.scale = 1.0}));
    EXPECT_EQ(svg_size(svg, "width"), png.width());
    EXPECT_EQ(svg_size(svg, "height"), png.height());
  }
}

TEST(Draw, APdfIsOnePage) {
  for (const Map& map : maps::every_example()) {
    const std::string pdf = draw(map, Format::pdf);
    EXPECT_TRUE(pdf.starts_with("%PDF-"));
    EXPECT_NE(pdf.find("/Count 1\n"), std::string::npos);
    EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  }
}

TEST(Draw, TheSameMapGivesTheSamePicture) {
  // Of the pixels: Cairo counts the surfaces of a process in the ids of an SVG.
  for (const Map& map : maps::every_example())
    EXPECT_TRUE(draw(map, Format::png) == draw(map, Format::png)) << map.index();
}

TEST(Draw, LargeMatricesArePooledIntoTilesAndSayIt) {
  Alignment map = square(300, 200);
  const std::string svg = draw(map, Format::svg);
  const Matrix seen = maps::pooled(map.weights, 128, 128);
  expect_cells(rectangles(svg), seen, 1.0f);
  EXPECT_NE(svg.find("300 × 200 weights in 128 × 128 tiles"), std::string::npos);
}

TEST(Draw, AsAnImageALargeMatrixKeepsEveryWeight) {
  Alignment map = square(200, 300);
  map.weights.values.assign(60000, 0.0f);
  map.weights.values[77 * 300 + 123] = 1.0f;
  const Decoded png(draw(map, Format::png, {.width = 400.0, .scale = 1.0}));
  const maps::Rgb darkest = maps::colour_of(1.0f);
  int count = 0;
  // The bar of the legend ends with the darkest colour, too, below the matrix.
  for (int y = 0; y < png.height() - 70; ++y)
    for (int x = 0; x < png.width(); ++x) count += png.at(x, y) == darkest ? 1 : 0;
  EXPECT_EQ(count, 1) << "one pixel a weight";
}

TEST(Draw, EveryHeadIsAMatrixOfItsOwn) {
  const maps::Heads map = maps::heads_example();
  const auto all = rectangles(draw(map, Format::svg));
  ASSERT_GE(all.size(), 10u);
  const std::vector<float> expected{1.0f, 0.0f, 0.3f, 0.7f, 1.0f, 0.0f, 0.3f, 0.7f, 0.5f, 0.5f};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(all[i].colour, maps::colour_of(expected[i], 1.0f)) << i;
  EXPECT_GT(all[4].x, all[1].x + all[1].width) << "heads of a layer stand side by side";
  EXPECT_DOUBLE_EQ(all[4].y, all[0].y);
  EXPECT_GT(all[8].y, all[3].y + all[3].height) << "layers stand below each other";
}

TEST(Draw, BarsAreAsLongAsTheirValues) {
  const maps::Bars map{"", "", "", {"g", "h"}, {{"s", {10.0, 5.0}}}};
  const auto all = rectangles(draw(map, Format::svg));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NEAR(all[0].width, 2.0 * all[1].width, test::kFloatTraining);
  EXPECT_DOUBLE_EQ(all[0].x, all[1].x);
  const auto below =
      rectangles(draw(maps::Bars{"", "", "", {"g", "h"}, {{"s", {-10.0, 5.0}}}}, Format::svg));
  ASSERT_EQ(below.size(), 2u);
  EXPECT_NEAR(below[0].x + below[0].width, below[1].x, test::kFloatTraining)
      << "both begin at zero";
}

/// The mean place of the pixels with a colour, as a share of the width.
double middle_of(const Decoded& png, maps::Rgb colour) {
  double total = 0.0;
  double count = 0.0;
  for (int y = 0; y < png.height() - 60; ++y)
    for (int x = 0; x < png.width(); ++x)
      if (png.at(x, y) == colour) {
        total += x;
        count += 1.0;
      }
  EXPECT_GT(count, 10.0);
  return total / count / png.width();
}

TEST(Draw, WordsFillTheirLineFromTheSideTheirScriptBegins) {
  const auto document = [](const std::string& first, const std::string& other) {
    return maps::Document{"", "", {{1.0f, {{first, 1.0f}, {other, 0.0f}, {other, 0.0f}}}}};
  };
  const maps::Rgb darkest = maps::colour_of(1.0f);
  const Decoded left(draw(document("staff", "clean"), Format::png));
  const Decoded right(draw(document("مرحبا", "نظيف"), Format::png));
  EXPECT_LT(middle_of(left, darkest), 0.3);
  EXPECT_GT(middle_of(right, darkest), 0.7);
}

TEST(Draw, TheOverlayLiesWhereTheWeightIs) {
  maps::Image map;
  map.width = map.height = 32;
  map.pixels.assign(1024, 0);
  map.steps = {{"seven", Matrix{2, 2, {0.0f, 0.0f, 0.0f, 1.0f}}, {}}};
  const Decoded png(draw(map, Format::png, {.scale = 1.0}));
  // The panels lie side by side: the picture, then the step. The bluish ink of text is no
  // match.
  double x_total = 0.0;
  double y_total = 0.0;
  double count = 0.0;
  for (int y = 0; y < png.height() - 60; ++y)
    for (int x = 0; x < png.width(); ++x) {
      const maps::Rgb at = png.at(x, y);
      if (at.red > 150 && at.blue < 40 && at.green < 140) {
        x_total += x;
        y_total += y;
        count += 1.0;
      }
    }
  ASSERT_GT(count, 100.0);
  EXPECT_GT(x_total / count, 0.6 * png.width());
  EXPECT_GT(y_total / count, 0.4 * png.height());
}

TEST(Draw, AnyScriptAndAnyLengthOfLabelsKeepsThePictureInBounds) {
  Alignment map;
  map.rows = {
      "مرحبا بالعالم",     "שלום עולם",           "こんにちは世界", "👩\u200d👩\u200d👧 🎉",
      "e\u0301le\u0300ve", std::string(300, 'x'), "नमस्ते",           "",
      "<b>&\"</b>",        "a\nb\x1b[31m",        "\u202eevil",     std::string(60000, 'y')};
  map.columns = map.rows;
  map.title = map.caption = map.row_title = map.column_title = map.rows[5] + " " + map.rows[0];
  map.weights = {12, 12, std::vector<float>(144, 0.5f)};
  for (const Format format : {Format::svg, Format::pdf, Format::png})
    EXPECT_GT(draw(map, format).size(), 1000u);
  const std::string svg = draw(map, Format::svg);
  EXPECT_LT(svg_size(svg, "width"), 1200.0);
  EXPECT_LT(svg_size(svg, "height"), 1400.0);
}

TEST(Draw, LongSentencesStandWordBelowWord) {
  const auto sentence = [](std::size_t count) {
    maps::Arcs map;
    for (std::size_t i = 1; i <= count; ++i) {
      map.words.emplace_back("word");
      map.tags.emplace_back("NOUN");
      map.arcs.push_back({i / 2, i, "nmod", 0.9f});
    }
    return map;
  };
  const std::string row = draw(sentence(6), Format::svg);
  EXPECT_GT(svg_size(row, "width"), svg_size(row, "height"));
  const std::string column = draw(sentence(80), Format::svg);
  EXPECT_LT(svg_size(column, "width"), 760.0);
  EXPECT_GT(svg_size(column, "height"), 80 * 15.0);
}

TEST(Draw, WordsOfTheSvgAreEscaped) {
  Alignment map = square(1, 1);
  map.title = "</title><script>alert(1)</script> & \x01";
  const std::string svg = draw(map, Format::svg);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;alert(1)"), std::string::npos);
}

TEST(Draw, EmptyMapsBecomeAPictureThatSaysSo) {
  for (const Map& map : maps::every_empty())
    for (const Format format : {Format::svg, Format::pdf, Format::png})
      EXPECT_GT(draw(map, format).size(), 500u) << map.index();
}

TEST(Draw, CurvesWithoutAnExtentAreDrawn) {
  maps::Curve map;
  map.points = {{5.0, 5.0}, {5.0, 5.0}};
  EXPECT_GT(draw(map, Format::png).size(), 500u);
  map.points = {{-1e300, 1e300}, {1e200, -1e200}, {1e-300, 0.0}};
  EXPECT_GT(draw(map, Format::png).size(), 500u);
  map.points = {{1e15, 1e15}, {1e15 + 0.25, 1e15 + 0.25}};
  EXPECT_GT(draw(map, Format::png).size(), 500u);
}

TEST(Draw, WhatCannotBeDrawnIsRefused) {
  Alignment map = square(2, 2);
  map.weights.values[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW((void)draw(map, Format::svg), InvalidArgument);
  EXPECT_THROW((void)draw(square(2, 2), Format::png, {.width = 0.0}), InvalidArgument);
  EXPECT_THROW((void)draw(square(2, 2), Format::png, {.scale = 1e9}), InvalidArgument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)draw(square(2, 2), Format::png, {.scale = nan}), InvalidArgument);
}

TEST(Draw, APathIsDrawnOverItsPicture) {
  maps::Image map;
  map.width = map.height = 10;
  map.pixels.assign(100, 0);
  map.steps.push_back({"the path", {}, {}, {}});
  const std::string without = draw(map, Format::svg);
  map.steps[0].path = {{2.0, 2.0}, {7.0, 5.0}};
  const std::string with = draw(map, Format::svg);
  EXPECT_GT(with.size(), without.size());
  // A step far outside the picture is cut off, not a reason to fail.
  map.steps[0].path.push_back({1e200, -1e200});
  EXPECT_GT(draw(map, Format::png).size(), 500u);
}

TEST(DrawTo, TellsOfLettersThatNoFontHas) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attn-boxes-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  Alignment map = square(2, 2);
  for (const char* ending : {"a.svg", "a.pdf", "a.png"}) {
    map.title = "plain";
    EXPECT_EQ(draw_to(map, folder / ending), "") << ending;
    map.title = "\U000FFFFD is for private use";
    EXPECT_EQ(draw_to(map, folder / ending), map.title) << ending;
  }
  std::filesystem::remove_all(folder);
}

TEST(DrawTo, TheEndingChoosesAndAnotherIsRefused) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attn-draw-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  draw_to(square(2, 2), folder / "a.SVG");
  draw_to(square(2, 2), folder / "a.pdf");
  draw_to(square(2, 2), folder / "a.png");
  EXPECT_TRUE(files::read_text(folder / "a.SVG", 1 << 20).starts_with("<?xml"));
  EXPECT_TRUE(files::read_text(folder / "a.pdf", 1 << 20).starts_with("%PDF"));
  EXPECT_TRUE(files::read_text(folder / "a.png", 1 << 20).starts_with("\x89PNG"));
  EXPECT_THROW(draw_to(square(2, 2), folder / "a.gif"), InvalidArgument);
  EXPECT_THROW(draw_to(square(2, 2), folder / "none" / "a.png"), FileError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace attn::drawing
