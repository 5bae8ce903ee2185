#include "tasks/compose/roll.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr double kQuarterWidth = 22.0;  ///< points
constexpr double kNoteHeight = 9.0;
constexpr double kLeft = 46.0;
constexpr double kTop = 34.0;
constexpr double kRowHeight = 15.0;
constexpr std::int64_t kMostQuarters = 48;
constexpr std::size_t kMostArcs = 10;
constexpr std::int64_t kBar = 4 * kQuarter;

class Roll {
 public:
  Roll(const Music& music, std::size_t composed, std::span<const Looking> looking)
      : music_(music), composed_(composed), looking_(looking) {
    const std::int64_t end = (music.end() + kQuarter - 1) / kQuarter;
    first_ = std::max<std::int64_t>(0, end - kMostQuarters) * kQuarter;
    first_ = (first_ + kBar - 1) / kBar * kBar;
    quarters_ = end - first_ / kQuarter;
    low_ = 127;
    for (const Note& note : music.notes) {
      if (!is_shown(note)) continue;
      low_ = std::min(low_, note.pitch);
      high_ = std::max(high_, note.pitch);
    }
  }

  maps::Diagram draw() {
    map_.title = "what the last notes looked at";
    map_.caption = caption();
    if (quarters_ < 1 || high_ < low_) {
      map_.notes.push_back({kLeft, kTop, "no notes"});
      return map_;
    }
    add_axes();
    for (std::size_t i = 0; i < music_.notes.size(); ++i)
      if (is_shown(music_.notes[i])) add_note(i);
    if (!looking_.empty()) {
      add_arcs(looking_.front());
      add_rows();
    }
    return map_;
  }

 private:
  bool is_shown(const Note& note) const { return note.begin >= first_; }
  double x_of(std::int64_t ticks) const {
    return kLeft + static_cast<double>(ticks - first_) / kQuarter * kQuarterWidth;
  }
  double y_of(int pitch) const { return kTop + (high_ - pitch) * kNoteHeight; }
  double bottom() const { return y_of(low_) + kNoteHeight; }

  std::string caption() const {
    std::string text =
        "Notes over time, a column a quarter; those that were composed are darker.";
    if (!looking_.empty())
      text += " The arcs lead from " +
              name_of_pitch(music_.notes[looking_.front().note].pitch) +
              ", one of the last notes, to those that it looked at most when it was chosen, "
              "and the rows tell when the last notes looked: the mean of all heads and layers.";
    if (first_ > 0) text += " The end of the piece is shown.";
    return text;
  }

  void add_axes() {
    for (std::int64_t at = first_; at <= first_ + quarters_ * kQuarter; at += kBar)
      map_.notes.push_back(
          {x_of(at), kTop - 16.0, std::to_string(at / kBar + 1), maps::NoteAnchor::left});
    for (int pitch = low_; pitch <= high_; ++pitch)
      if (pitch % 12 == 0)
        map_.notes.push_back({kLeft - 6.0, y_of(pitch) + kNoteHeight / 2.0,
                              name_of_pitch(pitch), maps::NoteAnchor::right});
  }

  bool looks(std::size_t note) const {
    return std::any_of(looking_.begin(), looking_.end(),
                       [&](const Looking& one) { return one.note == note; });
  }

  void add_note(std::size_t i) {
    const Note& note = music_.notes[i];
    const double width = static_cast<double>(note.length) / kQuarter * kQuarterWidth;
    map_.parts.push_back({.x = x_of(note.begin) + 0.5,
                          .y = y_of(note.pitch) + 0.5,
                          .width = std::max(2.0, width - 1.0),
                          .height = kNoteHeight - 1.0,
                          .label = "",
                          .role = looks(i)         ? maps::Role::score
                                  : i >= composed_ ? maps::Role::output
                                                   : maps::Role::plain});
  }

  maps::Point middle(std::size_t i) const {
    const Note& note = music_.notes[i];
    return {
        x_of(note.begin) + static_cast<double>(note.length) / kQuarter * kQuarterWidth / 2.0,
        y_of(note.pitch) + kNoteHeight / 2.0};
  }

  void add_arcs(const Looking& one) {
    std::vector<std::size_t> order(one.weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return one.weights[a] > one.weights[b];
    });
    const double top = order.empty() ? 0.0 : one.weights[order.front()];
    const maps::Point from = middle(one.note);
    for (std::size_t i = 0; i < std::min(kMostArcs, order.size()); ++i) {
      const std::size_t to = order[i];
      if (!(one.weights[to] > 0.0) || !is_shown(music_.notes[to]) || to == one.note) continue;
      const maps::Point end = middle(to);
      // Bent upwards, the more the further it goes.
      const double lift = std::min(kTop, 6.0 + 0.12 * std::abs(from.x - end.x));
      std::vector<maps::Point> through;
      constexpr int kPieces = 12;
      for (int piece = 0; piece <= kPieces; ++piece) {
        const double share = static_cast<double>(piece) / kPieces;
        through.push_back({from.x + share * (end.x - from.x),
                           std::max(0.0, from.y + share * (end.y - from.y) -
                                             4.0 * share * (1.0 - share) * lift)});
      }
      map_.arrows.push_back(
          {.through = through,
           .role = maps::Role::score,
           .weight = static_cast<float>(std::clamp(one.weights[to] / top, 0.0, 1.0))});
    }
  }

  /// For each note that looked, how much of its weight lay on each quarter.
  void add_rows() {
    const auto columns = static_cast<std::size_t>(quarters_);
    maps::Grid grid{.x = kLeft,
                    .y = bottom() + 26.0,
                    .cell_width = kQuarterWidth,
                    .cell_height = kRowHeight,
                    .rows = {},
                    .columns = maps::Labels(columns),
                    .weights = {looking_.size(), columns, {}}};
    grid.weights.values.assign(looking_.size() * columns, 0.0f);
    for (std::size_t i = 0; i < columns; ++i)
      if (i % 4 == 0) {
        const std::int64_t at = first_ + static_cast<std::int64_t>(i) * kQuarter;
        grid.columns[i] = std::to_string(at / kBar + 1);
      }
    for (std::size_t row = 0; row < looking_.size(); ++row) {
      grid.rows.push_back(name_of_pitch(music_.notes[looking_[row].note].pitch));
      for (std::size_t i = 0; i < music_.notes.size(); ++i) {
        const Note& note = music_.notes[i];
        const std::int64_t column = (note.begin - first_) / kQuarter;
        if (!is_shown(note) || column >= quarters_) continue;
        float& cell = grid.weights.values[row * columns + static_cast<std::size_t>(column)];
        cell = std::min(1.0f, cell + static_cast<float>(looking_[row].weights[i]));
      }
    }
    map_.grids.push_back(std::move(grid));
  }

  const Music& music_;
  std::size_t composed_;
  std::span<const Looking> looking_;
  std::int64_t first_ = 0;
  std::int64_t quarters_ = 0;
  int low_ = 0;
  int high_ = -1;
  maps::Diagram map_;
};

}  // namespace

maps::Diagram piano_roll(const Music& music, std::size_t composed,
                         std::span<const Looking> looking) {
  return Roll(music, composed, looking).draw();
}

}  // namespace attn::tasks::compose
