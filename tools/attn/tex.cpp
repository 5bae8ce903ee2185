#include "tools/attn/tex.hpp"

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::tools {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct Token {
  std::string text;
  bool apart = false;  ///< a space stands before it
};

std::vector<Token> tokens(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kLong{"...", "<=", ">=", "->",
                                                         "<-",  "!=", ".."};
  std::vector<Token> all;
  bool apart = false;
  while (!text.empty()) {
    if (text.front() == ' ') {
      apart = true;
      text.remove_prefix(1);
      continue;
    }
    std::size_t size = 1;
    if (is_letter(text.front())) {
      while (size < text.size() && is_letter(text[size])) ++size;
      // source2token is one word, W2 is two tokens.
      if (size >= 3 && size + 3 < text.size() && is_digit(text[size]) &&
          is_letter(text[size + 1]) && is_letter(text[size + 2]))
        while (size < text.size() && (is_letter(text[size]) || is_digit(text[size]))) ++size;
    } else if (is_digit(text.front())) {
      while (size < text.size() && (is_digit(text[size]) || text[size] == '.') &&
             text.substr(size, 2) != "..")
        ++size;
    } else {
      for (const std::string_view sign : kLong)
        if (text.starts_with(sign)) size = std::max(size, sign.size());
    }
    all.push_back({std::string(text.substr(0, size)), apart});
    text.remove_prefix(size);
    apart = false;
  }
  return all;
}

bool is_word(const Token& token) {
  return is_letter(token.text.front());
}

bool is_english(const std::string& word) {
  static const std::vector<std::string_view> kWords{
      "again",    "all",   "and",       "are",   "around", "averaged",  "before",   "boxes",
      "by",       "cells", "document",  "down",  "each",   "else",      "features", "for",
      "forced",   "from",  "if",        "image", "in",     "its",       "layer",    "likewise",
      "multiple", "norm",  "of",        "on",    "or",     "others",    "over",     "part",
      "query",    "sees",  "sentences", "share", "side",   "square",    "such",     "that",
      "the",      "their", "times",     "to",    "until",  "unvisited", "valid",    "when",
      "where",    "with"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// A name as TeX sets it: letters slanted, functions and longer names upright.
std::string name(const std::string& word) {
  static const std::vector<std::string_view> kCommands{
      "alpha",  "beta", "gamma", "phi", "psi", "rho", "sigma", "tau",
      "lambda", "cos",  "exp",   "log", "max", "min", "sin",   "tanh"};
  if (std::find(kCommands.begin(), kCommands.end(), word) != kCommands.end())
    return "\\" + word;
  return word.size() == 1 ? word : "\\text{" + word + "}";
}

std::string sign(const std::string& text) {
  static const std::map<std::string_view, std::string_view> kSigns{
      {".", "\\cdot"},   {"*", "\\ast"},     {"<=", "\\le"},    {">=", "\\ge"},
      {"!=", "\\ne"},    {"->", "\\to"},     {"<-", "\\gets"},  {"~", "\\sim"},
      {"..", "\\ldots"}, {"...", "\\ldots"}, {"{", "\\lbrace"}, {"}", "\\rbrace"},
      {"<", "\\lt"},     {">", "\\gt"}};
  const auto found = kSigns.find(text);
  return found == kSigns.end() ? text : std::string(found->second);
}

class Writer {
 public:
  explicit Writer(std::vector<Token> all) : all_(std::move(all)) {}

  std::vector<std::string> statements() {
    std::vector<std::string> result;
    std::string statement;
    while (next_ < all_.size()) {
      const std::string& text = all_[next_].text;
      if ((text == ";" || text == ",") && (text == ";" || relates(next_ + 1))) {
        ++next_;
        result.push_back(std::exchange(statement, ""));
      } else {
        join(statement, item());
      }
    }
    result.push_back(statement);
    return result;
  }

 private:
  /// Whether the piece that begins at a token says what something is.
  bool relates(std::size_t at) const {
    int depth = 0;
    for (; at < all_.size(); ++at) {
      const std::string& text = all_[at].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (depth == 0 && (text == "," || text == ";")) return false;
      if (depth == 0 && (text == "=" || text == "<-" || text == "->" || text == "~"))
        return true;
    }
    return false;
  }

  bool touches(std::string_view text) const {
    return next_ < all_.size() && !all_[next_].apart && all_[next_].text == text;
  }

  /// Puts a space between two things, a visible one beside a name of several letters; words of
  /// English become one text.
  static void join(std::string& row, const std::string& more) {
    static constexpr std::string_view kWords = "\\text{ ";
    static constexpr std::string_view kName = "\\text{";
    if (row.ends_with(" }") && more.starts_with(kWords)) {
      row.pop_back();
      row += more.substr(kWords.size());
      return;
    }
    const bool words = row.ends_with(" }") || more.starts_with(kWords);
    const auto is_name = [&](const std::string& item) { return item.starts_with(kName); };
    const auto is_factor = [&](const std::string& item, char end) {
      return is_name(item) || is_letter(end) || is_digit(end) || end == '}' || end == '(';
    };
    const std::string last = row.substr(row.rfind(' ') + 1);
    if (!words && !last.empty() && !more.empty() && (is_name(last) || is_name(more)) &&
        is_factor(last, row.back()) && is_factor(more, more.front()))
      row += "\\,";
    if (!row.empty() && !more.empty() && more != "," && row.back() != '(' &&
        row.back() != '[' && more.front() != ')' && more.front() != ']')
      row += ' ';
    row += more;
  }

  /// Up to a closing bracket, which is passed.
  std::string row(std::string_view close) {
    std::string result;
    while (next_ < all_.size() && all_[next_].text != close) join(result, item());
    ++next_;
    return result;
  }

  /// A thing with the scripts and brackets that hang on it.
  std::string item() {
    std::string result = atom();
    while (next_ < all_.size()) {
      if (all_[next_].text == "_" || all_[next_].text == "^") {
        const std::string mark = all_[next_++].text;
        result += mark + "{" + script(mark == "_") + "}";
      } else if (touches("(") || touches("[") || touches("'")) {
        result += atom();
      } else if (touches("*") && (next_ + 1 == all_.size() || all_[next_ + 1].apart)) {
        result += "^{\\ast}";
        ++next_;
      } else {
        break;
      }
    }
    return result;
  }

  std::string atom() {
    const Token token = all_[next_++];
    if (token.text == "(") return "(" + row(")") + ")";
    if (token.text == "[") return "[" + row("]") + "]";
    if (!is_word(token)) {
      const bool arrow = token.text == "->" || token.text == "<-";
      if (!arrow || next_ == all_.size() || all_[next_].apart || !is_word(all_[next_]))
        return sign(token.text);
      const std::string direction = token.text == "->" ? "right" : "left";
      return "\\over" + direction + "arrow{" + name(all_[next_++].text) + "}";
    }
    if (token.text == "sqrt" && touches("(")) {
      ++next_;
      return "\\sqrt{" + row(")") + "}";
    }
    const bool of = next_ < all_.size() && all_[next_].text == "of";
    if (token.text == "sum" && !of) return "\\sum";
    if ((is_english(token.text) || token.text == "sum") && !touches("(") && !touches("_"))
      return "\\text{ " + token.text + " }";
    // W1 and LN1 are W and LN with a low 1.
    if (next_ < all_.size() && !all_[next_].apart && is_digit(all_[next_].text.front()))
      return name(token.text) + "_{" + all_[next_++].text + "}";
    // max_len is a name, max_{t < len} goes over something.
    if (touches("_") && next_ + 1 < all_.size() && all_[next_ + 1].text.size() > 2 &&
        token.text.size() > 2)
      return "\\text{" + token.text + "}";
    return name(token.text);
  }

  std::string script(bool low) {
    if (next_ < all_.size() && all_[next_].text == "{") return ++next_, row("}");
    if (next_ < all_.size() && all_[next_].text == "(") return ++next_, row(")");
    std::string result;
    // Letters and digits that touch: e_ij has two letters, W_out one word.
    for (bool first = true; next_ < all_.size() && (first || !all_[next_].apart);
         first = false) {
      const std::string& text = all_[next_].text;
      if (!is_letter(text.front()) && !is_digit(text.front())) break;
      const bool letters = low && text.size() == 2 && text != "in";
      result += text == "T" && !low                 ? "\\top"
                : letters || is_digit(text.front()) ? text
                                                    : name(text);
      ++next_;
    }
    for (; low && touches("'"); ++next_) result += "'";
    return result;
  }

  std::vector<Token> all_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<std::string> tex(std::string_view formula) {
  return Writer(tokens(formula)).statements();
}

}  // namespace attn::tools
