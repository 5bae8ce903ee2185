// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/hearing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

/// What of the choices of a search a model that hears does not have; "": nothing.
std::string unknown_choice(const Choices& choices) {
  const models::Steering& steering = choices.steering;
  if (!steering.forbid.empty()) return "forbid";
  if (!steering.force.empty()) return "force";
  if (steering.temperature != 1.0) return "attention-temperature";
  if (choices.beam.value_or(1) != 1) return "beam";
  if (choices.best != 1) return "best";
  if (choices.temperature != 0.0) return "temperature";
  return "";
}

Table table_of(const std::vector<SpokenWord>& words) {
  Table table{{"word", "begin", "end"}, {}};
  for (const SpokenWord& word : words) table.rows.push_back({word.text, word.begin, word.end});
  return table;
}

Table table_of(const std::vector<SpokenSegment>& segments) {
  Table table{{"begin", "end", "text"}, {}};
  for (const SpokenSegment& segment : segments)
    table.rows.push_back({segment.begin, segment.end, segment.text});
  return table;
}

Reply reply_of(const Transcript& transcript, bool times, double seconds) {
  Answer answer;
  answer.text = transcript.text();
  answer.output = table_of(transcript.segments);
  if (times) answer.table = table_of(transcript.words());
  answer.log_probability = transcript.certainty.log_probability;
  answer.score = transcript.certainty.a_token();
  answer.finished = true;
  answer.numbers["repeated"] = {static_cast<float>(transcript.certainty.repeated)};
  answer.numbers["seconds"] = {static_cast<float>(transcript.seconds),
                               static_cast<float>(seconds)};
  if (transcript.map != nullptr)
    answer.map = std::make_shared<const maps::Map>(*transcript.map);
  Reply reply;
  reply.notes = transcript.notes;
  reply.unfamiliar = transcript.doubtful;
  reply.pieces.emplace_back().answers.push_back(answer);
  reply.answers.push_back(std::move(answer));
  return reply;
}

const Table& segments_of(const Answer& answer) {
  const auto* segments = answer.output ? std::get_if<Table>(&*answer.output) : nullptr;
  if (segments == nullptr) fail("attn::tasks::transcribe: an answer without its segments");
  return *segments;
}

/// To thousandths; a frame has 24 of a second.
double rounded(double number) {
  return std::round(number * 1000.0) / 1000.0;
}

nlohmann::json words_json(const Answer& answer) {
  auto words = nlohmann::json::array();
  if (!answer.table) return words;
  for (const auto& row : answer.table->rows)
    words.push_back({{"word", std::get<std::string>(row[0])},
                     {"begin", rounded(std::get<double>(row[1]))},
                     {"end", rounded(std::get<double>(row[2]))}});
  return words;
}

nlohmann::json segments_json(const Answer& answer) {
  auto segments = nlohmann::json::array();
  for (const auto& row : segments_of(answer).rows)
    segments.push_back({{"begin", rounded(std::get<double>(row[0]))},
                        {"end", rounded(std::get<double>(row[1]))},
                        {"text", std::get<std::string>(row[2])}});
  return segments;
}

const Sound& sound_of(const Input& input) {
  const auto* sound = input.find<Sound>("sound");
  if (sound == nullptr) fail("attn::tasks::transcribe: there is no sound");
  return *sound;
}

}  // namespace

const Task& HearingModel::task() const {
  return transcribe_task();
}

std::string HearingModel::refusal(const Input& input) const {
  const auto* sound = input.find<Sound>("sound");
  if (sound == nullptr) return "is missing; there is nothing to hear";
  if (sound->rate != kSpeechRate)
    return "has " + std::to_string(sound->rate) + " samples a second; " +
           std::to_string(kSpeechRate) + " are accepted";
  if (!std::all_of(sound->samples.begin(), sound->samples.end(),
                   [](float x) { return std::isfinite(x); }))
    return "has samples that are no finite numbers";
  return "";
}

std::vector<Reply> HearingModel::answer(std::span<const Input> inputs, const Choices& choices,
                                        const Done& done) const {
  if (const std::string choice = unknown_choice(choices); !choice.empty())
    fail("attn::tasks::transcribe: there is no choice ", files::in_quotes(choice),
         "; words are heard one by one, and what is looked at is not steered");
  Hearing how{.times = choices.weights, .map = choices.weights};
  if (choices.told)
    how.told = [&](const SpokenSegment& segment) { return choices.told(segment.text + "\n"); };
  how.progress = choices.progress;
  std::vector<Reply> replies;
  for (const Input& input : inputs) {
    const std::shared_ptr<const Samples> samples = samples_of(sound_of(input));
    const auto start = std::chrono::steady_clock::now();
    const Transcript transcript = hear(*samples, how);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    replies.push_back(reply_of(transcript, how.times, took.count()));
    if (done) done(static_cast<std::int64_t>(replies.size()));
  }
  return replies;
}

maps::Map HearingModel::map(const Input& input, const Piece& piece,
                            std::string_view heads) const {
  if (!heads.empty() && heads != "all" && heads != "cross")
    fail("attn::tasks::transcribe: heads of ", files::in_quotes(heads),
         "; all and cross are accepted: the decoder's look at the sound");
  if (!heads.empty()) return this->heads(*samples_of(sound_of(input)));
  const Answer& answer = piece.answers.front();
  if (answer.map != nullptr) return *answer.map;
  maps::Speech nothing;
  nothing.caption = "No words were heard.";
  return nothing;
}

nlohmann::json HearingModel::json_of(const Input& input, const Reply& reply,
                                     Detail detail) const {
  const Answer& answer = reply.answers.front();
  nlohmann::json json{{"text", answer.text},
                      {"seconds", rounded(answer.numbers.at("seconds").front())},
                      {"segments", segments_json(answer)},
                      {"words", words_json(answer)},
                      {"log_probability", rounded(answer.score)},
                      {"repeated", rounded(answer.numbers.at("repeated").front())},
                      {"unfamiliar", reply.unfamiliar},
                      {"notes", reply.notes}};
  if (detail != Detail::none)
    json["map"] = nlohmann::json::parse(
        maps::to_json(map(input, reply.pieces.front(), detail == Detail::heads ? "all" : "")));
  return json;
}

nlohmann::json HearingModel::line_of(const std::string& name, const Input&, const Reply& reply,
                                     Detail) const {
  nlohmann::json line = json_of({}, reply, Detail::none);
  line["file"] = files::printable(name, 4096);
  line["model"] = variant().empty() ? kind() : variant();
  return line;
}

}  // namespace attn::tasks
