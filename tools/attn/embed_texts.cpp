// SPDX-License-Identifier: Apache-2.0

#include "tools/attn/embed_texts.hpp"

#include <fmt/core.h>
#include <stdio.h>  // fileno
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// A file of lines is read whole.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
/// Texts a turn: sorted by length they fill the encoder's batches, and a turn takes seconds.
constexpr std::size_t kTurn = 1024;

enum class Blank { skip, refuse };

bool is_blank(std::string_view text) {
  const std::u32string points = text::code_points(text);
  return std::all_of(points.begin(), points.end(), text::is_space);
}

/// Lines end with "\n" or "\r\n"; the last need not.
TextLines split_lines(std::string_view content, const std::string& where, Blank blank) {
  TextLines lines;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!files::is_utf8(line))
      fail(where, ": line ", number, " is not UTF-8: ", files::in_quotes(line));
    if (is_blank(line)) {
      if (blank == Blank::refuse)
        fail(where, ": line ", number, " is empty; every line is a text");
      continue;
    }
    lines.texts.emplace_back(line);
    lines.numbers.push_back(number);
  }
  if (lines.texts.empty()) fail(where, ": there is no text");
  return lines;
}

/// How far it is: one line written over on a terminal, a line now and then elsewhere.
class Turns {
 public:
  Turns(const Streams& streams, std::size_t total)
      : err_(streams.err), terminal_(::isatty(::fileno(streams.err)) == 1), total_(total) {}
  ~Turns() {
    if (open_) std::fputc('\n', err_);
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  void operator()(std::size_t done) {
    using Seconds = std::chrono::duration<double>;
    const auto now = std::chrono::steady_clock::now();
    if (done == total_ && !open_) return;
    if (done < total_ && Seconds(now - last_).count() < (terminal_ ? 0.5 : 10.0)) return;
    last_ = now;
    const double rate = static_cast<double>(done) / Seconds(now - begin_).count();
    fmt::print(err_, "{}attn: {} of {} texts, {:.0f} a second{}", terminal_ ? "\r" : "", done,
               total_, rate, terminal_ ? "  " : "\n");
    std::fflush(err_);
    open_ = terminal_;
  }

 private:
  std::FILE* err_;
  bool terminal_;
  std::size_t total_;
  bool open_ = false;  ///< a line is there to be written over
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace

TextLines given_texts(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"-"}) {
    const std::string content{std::istreambuf_iterator<char>(std::cin), {}};
    return split_lines(content, "standard input", Blank::refuse);
  }
  TextLines given;
  for (const std::string& text : arguments) {
    given.numbers.push_back(given.texts.size() + 1);
    if (!files::is_utf8(text))
      fail("text ", given.numbers.back(), " is not UTF-8: ", files::in_quotes(text));
    if (is_blank(text)) fail("text ", given.numbers.back(), " is empty");
    given.texts.push_back(text);
  }
  return given;
}

TextLines lines_of(const std::string& path) {
  return split_lines(files::read_text(path, kMostBytes), files::path_text(path), Blank::skip);
}

void tell_of_long_texts(const tasks::SentenceEncoder& encoder, const TextLines& texts,
                        const Streams& streams) {
  // A piece has one character at least, so most texts need no look.
  const auto most = static_cast<std::size_t>(encoder.max_pieces());
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    if (texts.texts[i].size() < most) continue;
    const std::size_t pieces = encoder.pieces(texts.texts[i]).size();
    if (pieces > most)
      fmt::print(streams.err, "attn: text {} has {} pieces; the encoder reads the first {}\n",
                 texts.numbers[i], pieces, most);
  }
}

void encode_in_turns(const tasks::SentenceEncoder& encoder,
                     const std::vector<std::string>& texts, const Streams& streams,
                     const std::function<void(std::size_t, const Tensor&)>& take) {
  Turns turns(streams, texts.size());
  for (std::size_t first = 0; first < texts.size(); first += kTurn) {
    const std::size_t count = std::min(kTurn, texts.size() - first);
    take(first, encoder.encode(std::span(texts).subspan(first, count)));
    turns(first + count);
  }
}

Tensor encode_all(const tasks::SentenceEncoder& encoder, const std::vector<std::string>& texts,
                  const Streams& streams) {
  const Tensor all = Tensor::empty({std::ssize(texts), encoder.width()});
  encode_in_turns(encoder, texts, streams, [&](std::size_t first, const Tensor& vectors) {
    const auto begin = static_cast<std::int64_t>(first);
    all.slice(0, begin, begin + vectors.size(0)).copy_from(vectors);
  });
  return all;
}

}  // namespace attn::tools
