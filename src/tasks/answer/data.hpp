/// Questions about pictures: easy-VQA's shapes, and canvases of handwritten digits whose boxes
/// are known. (vqa: visual question answering; answer() is a function of tasks.)

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::vqa {

/// The parts of an input, and those of an example to learn from, which has all questions of its
/// picture: a table with a row for each, question and answer.
inline constexpr const char* kPicture = "picture";
inline constexpr const char* kQuestion = "question";
inline constexpr const char* kQuestions = "questions";

/// A question, its answer, and the box of the thing that the answer tells of, if there is one.
struct Asked {
  std::string question;
  std::string answer;
  std::vector<Box> boxes{};
};

/// The files that easy-VQA becomes: questions, then pictures.
const std::vector<PreparedFile>& prepared_shapes();

/// Train is the first nine tenths of easy-VQA's training pictures, development the others, with
/// an example a picture; test is its own, an example a question. What does not fit is a
/// FileError that begins with `where`.
Corpus parse_shapes(std::string_view questions, std::string_view pictures,
                    const std::string& where);

/// Questions that canvases of MNIST digits answer, of parts that share no digit.
Corpus digit_questions(const DigitParts& parts);

/// What can be asked about a canvas, in order: what is beside which, which one it is, how many
/// there are, whether there is one. A relation is asked where one digit alone answers it.
std::vector<Asked> questions_of(const Canvas& canvas, std::uint64_t number);

/// An example to learn from: a picture with all its questions.
Example lesson(std::string id, Picture picture, const std::vector<Asked>& asked);
/// One question about it.
Example exam(std::string id, Picture picture, Asked asked);

}  // namespace attn::tasks::vqa
