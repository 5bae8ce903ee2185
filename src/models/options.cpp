#include "attn/models/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"

namespace attn::models {
namespace {

using Names = std::span<const std::string_view>;

// The names of an enum's values, in their order.
constexpr std::string_view kKinds[] = {"rnn", "bahdanau", "luong", "convolutional",
                                       "transformer"};
constexpr std::string_view kScores[] = {"dot", "general", "concat", "location"};
constexpr std::string_view kLocalities[] = {"global", "local-m", "local-p"};
constexpr std::string_view kFeedings[] = {"off", "on"};
constexpr std::string_view kPositions[] = {"sinusoidal", "rotary", "relative", "none"};
constexpr std::string_view kCopies[] = {"none", "pointer", "coverage"};
constexpr std::string_view kTies[] = {"none", "output", "all"};

// clang-format off
Names names_of(Kind) { return kKinds; }
Names names_of(Score) { return kScores; }
Names names_of(Locality) { return kLocalities; }
Names names_of(Feeding) { return kFeedings; }
Names names_of(Positions) { return kPositions; }
Names names_of(Copy) { return kCopies; }
Names names_of(Tie) { return kTies; }
// clang-format on

template <class T>
using Member = T ModelOptions::*;

struct Option {
  std::string_view name;
  std::variant<Member<std::int64_t>, Member<double>, Member<Kind>, Member<Score>,
               Member<Locality>, Member<Feeding>, Member<Positions>, Member<Copy>, Member<Tie>>
      member;
};

constexpr auto kOptions = std::to_array<Option>({
    {"kind", &ModelOptions::kind},
    {"source_vocabulary", &ModelOptions::source_vocabulary},
    {"target_vocabulary", &ModelOptions::target_vocabulary},
    {"dim", &ModelOptions::dim},
    {"encoder_layers", &ModelOptions::encoder_layers},
    {"decoder_layers", &ModelOptions::decoder_layers},
    {"heads", &ModelOptions::heads},
    {"feed_forward", &ModelOptions::feed_forward},
    {"kernel", &ModelOptions::kernel},
    {"window", &ModelOptions::window},
    {"max_source", &ModelOptions::max_source},
    {"dropout", &ModelOptions::dropout},
    {"word_dropout", &ModelOptions::word_dropout},
    {"score", &ModelOptions::score},
    {"reach", &ModelOptions::locality},
    {"feeding", &ModelOptions::feeding},
    {"positions", &ModelOptions::positions},
    {"copy", &ModelOptions::copy},
    {"tie", &ModelOptions::tie},
});

template <class Range>
std::string joined(const Range& words) {
  std::string all;
  for (const auto& word : words) {
    if (!all.empty()) all += ", ";
    all += word;
  }
  return all;
}

/// A flag writes "encoder-layers" for encoder_layers.
const Option& option_named(std::string_view given, std::string_view where) {
  std::string name(given);
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Option& option : kOptions)
    if (option.name == name) return option;
  std::vector<std::string_view> known;
  known.reserve(kOptions.size());
  for (const Option& option : kOptions) known.push_back(option.name);
  fail(where, ": no option '", given, "'; ", joined(known), " are accepted");
}

template <class T>
T value_named(std::string_view value, std::string_view name, std::string_view where) {
  if constexpr (std::is_enum_v<T>) {
    const Names names = names_of(T{});
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end())
      fail(where, ": ", name, " '", value, "'; ", joined(names), " are accepted");
    return static_cast<T>(found - names.begin());
  } else {
    T number{};
    const std::string text(value);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end)
      fail(where, ": ", name, " '", value, "'; a",
           std::is_same_v<T, double> ? " number is accepted" : " whole number is accepted");
    return number;
  }
}

template <class T>
T value_of(const nlohmann::json& value, std::string_view name, const std::string& where) {
  if constexpr (std::is_enum_v<T>) {
    return value_named<T>(files::to_text(value, where), name, where);
  } else if constexpr (std::is_same_v<T, double>) {
    return files::to_double(value, where);
  } else {
    return files::to_int(value, where);
  }
}

}  // namespace

std::string to_json(const ModelOptions& options) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Option& option : kOptions)
    std::visit(
        [&]<class T>(Member<T> member) {
          const T value = options.*member;
          auto& to = object[std::string(option.name)];
          if constexpr (std::is_enum_v<T>) {
            to = names_of(value)[static_cast<std::size_t>(value)];
          } else {
            to = value;
          }
        },
        option.member);
  return object.dump(2);
}

ModelOptions from_json(std::string_view text, std::string_view where) {
  const nlohmann::json object = files::parse_json(text, where);
  if (!object.is_object())
    fail(where, ": ", object.type_name(), " where options are; an object is accepted");
  ModelOptions options;
  for (const auto& [name, value] : object.items()) {
    const Option& option = option_named(name, where);
    const std::string place = std::string(where) + ": " + name;
    std::visit(
        [&]<class T>(Member<T> member) {
          options.*member = value_of<T>(value, option.name, place);
        },
        option.member);
  }
  return options;
}

void set_option(ModelOptions& options, std::string_view name, std::string_view value) {
  constexpr std::string_view kWhere = "attn::models::set_option";
  const Option& option = option_named(name, kWhere);
  std::visit(
      [&]<class T>(Member<T> member) {
        options.*member = value_named<T>(value, option.name, kWhere);
      },
      option.member);
}

std::vector<std::string> option_values(std::string_view name) {
  const Option& option = option_named(name, "attn::models::option_values");
  return std::visit(
      []<class T>(Member<T>) -> std::vector<std::string> {
        if constexpr (std::is_enum_v<T>) {
          const Names names = names_of(T{});
          return {names.begin(), names.end()};
        } else {
          return {};
        }
      },
      option.member);
}

}  // namespace attn::models
