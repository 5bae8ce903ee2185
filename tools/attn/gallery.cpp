// attn gallery: redraws the figures of docs/gallery.md.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attn/files/atomic_write.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/wrap.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

/// A picture is a command that anyone can type; --map is added to it.
struct Picture {
  std::string name;
  std::vector<std::string> command;
};

struct Figure {
  std::string name;
  std::string title;
  std::string paragraph;
  std::vector<std::string> command;
  std::vector<Picture> more;  ///< what the first is held against

  std::vector<Picture> pictures() const {
    std::vector<Picture> all{{name, command}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kAll{
      {"kernel-regression",
       "Attention before neural networks: kernel regression",
       "Nadaraya and Watson, in 1964, predicted a value as an average of the known ones, "
       "weighted "
       "by how near they are: queries are the places asked for, keys the known places, values "
       "what was measured there. Below the curve are the weights of a few queries. Here the "
       "width "
       "of the kernel was learnt from the carbon dioxide measured on Mauna Loa.",
       {"regress", "co2"},
       {}},
      {"translation",
       "Which words a translation looked at",
       "The kind of figure that made attention known (Bahdanau, Cho and Bengio, 2014), here of "
       "a "
       "Transformer, the mean of its last layer's heads: the English text across, the Italian "
       "answer down, and in each row where the model looked while it wrote that piece. Where "
       "the "
       "two languages order words alike there is a diagonal; adjectives that change places "
       "with "
       "their nouns leave it.",
       {"translate", "This package provides a simple graphical tool to edit images."},
       {}},
      {"alignment",
       "The alignment that a recurrent translator finds",
       "Bahdanau's own model: a GRU reads the Chinese sentence both ways, and before each "
       "piece "
       "of the English answer an additive score asks which characters matter now. Nobody told "
       "it which word belongs to which; where the two languages order words alike there is a "
       "diagonal, and what Chinese puts first and English last is far from it.",
       {"translate", "--model", "translate-zh-en-bahdanau",
        "\u6211\u6628\u5929\u5728\u56fe\u4e66\u9986\u770b\u4e86\u4e00\u672c\u4e66\u3002"},
       {}},
      {"self-attention",
       "A sentence looks at itself, head by head",
       "In a Transformer every word looks at every word of its own sentence, in several heads "
       "at "
       "once (Vaswani et al., 2017). Each small square is a head of the translation model's "
       "encoder: rows look at columns. Some look at a neighbour, some at the end of the "
       "sentence, "
       "some spread over what belongs together.",
       {"translate", "The program reads a file and writes it to another file.", "--heads",
        "encoder"},
       {}},
      {"copying",
       "Words that are copied into a summary",
       "A pointer-generator (See, Liu and Manning, 2017) may write a word of its own or copy "
       "one "
       "from the text. The rows are the pieces of the synopsis it wrote; a bright cell is "
       "where it "
       "pointed. A name that no training text had can be written only in this way.",
       {"summarise", "--text",
        "This package contains Python 3 bindings for Zorblex, a library that reads and writes "
        "spreadsheets. It is used by many programs."},
       {}},
      {"letters-to-phones",
       "From letters to sounds",
       "Which letters each sound came from. Letters are read as a group where they sound as "
       "one: "
       "the same two may be looked at for a single phone, and a silent one by nobody.",
       {"pronounce", "thoughtfully"},
       {}},
      {"local-against-global",
       "Looking everywhere, or into a window",
       "Luong, Pham and Manning (2015) compared two reaches. Global attention, the first "
       "picture, weighs every letter at each step. Local attention, the second, predicts the "
       "place it is at and weighs only a window around it, with a bell curve on top. Sounds "
       "come in the order of their letters, so both learn the same path; the curve leaves less "
       "than the whole weight where the place falls between letters. Both models have the same "
       "size and had seven minutes of training.",
       {"pronounce", "internationalization", "--model", "pronounce-global"},
       {{"local-against-global-2",
         {"pronounce", "internationalization", "--model", "pronounce-local"}}}},
      {"where-a-caption-looked",
       "Where a caption looked",
       "Show, Attend and Tell (Xu et al., 2015) on canvases of handwritten digits: a panel for "
       "each word of the caption, bright where the model looked while it said it. A digit's "
       "name "
       "looks at the digit.",
       {"caption", "--sample", "1"},
       {}},
      {"glimpses",
       "The path of the glimpses",
       "A model that never sees the whole picture (Mnih et al., 2014) looks for a digit among "
       "pieces of others: where it looked, one glimpse after the other, then what each saw in "
       "its four squares, and what was said after it.",
       {"look", "--scene", "large", "--sample", "1"},
       {}},
      {"pixels",
       "What a pixel looked at",
       "A digit was painted pixel by pixel. Each panel is one pixel (the box) and how much it "
       "weighed the places before it.",
       {"paint", "--class", "7", "--seed", "3"},
       {}},
      {"a-question-and-a-picture",
       "A question looks at a picture on three levels",
       "Parallel co-attention (Lu et al., 2016) on a drawing of easy-VQA: where the words, the "
       "phrases and the whole of the question looked, with the words that counted most.",
       {"answer", "--sample", "1"},
       {}},
      {"what-the-last-notes-looked-at",
       "What the last notes looked at",
       "A chorale that was composed by relative attention (Huang et al., 2018), a column a "
       "quarter. Arcs lead from one of the last notes to those that it looked at most.",
       {"compose", "--seed", "3", "--bars", "6"},
       {}},
      {"characters-in-a-sound",
       "Where in a sound each character was heard",
       "Location-aware attention (Chorowski et al., 2015): where the weights of the step "
       "before "
       "were is convolved and guides the next step, so that they run down the sound. A row is "
       "a "
       "character as it was written; a frame of the attention is 40 ms.",
       {"transcribe", "--model", "las", "--sample", "1"},
       {}},
      {"hops-over-a-story",
       "A question looks at a story, hop by hop",
       "An end-to-end memory network (Sukhbaatar et al., 2015) keeps a story sentence by "
       "sentence. "
       "A question looks at all of them, adds what it found to itself and looks again: first "
       "at what became of the milk, then at where the one went who had it.",
       {"remember",
        "Mary got the milk. John moved to the bedroom. Mary went to the kitchen. Mary dropped "
        "the milk.",
        "Where is the milk?"},
       {}},
      {"a-blank-looks-for-a-name",
       "A blank looks for a name",
       "Attention over attention (Cui et al., 2017): each word of a question looks at the "
       "text, here at its names, and how much a word of the question counts is decided by "
       "what the text looks at; the last row is what comes of both. The commonest name is "
       "Asa's, but who comes up out of a land needs a land: the blank and the words beside it "
       "look at Egypt.",
       {"cloze",
        "Now Tobiah had a brother in Egypt, and his name was Asa. And Tobiah wrote letters "
        "unto Asa, saying, Come thou to me. And Asa went up out of Egypt.",
        "And he came up out of the land of _____."},
       {}},
      {"a-reply-and-its-turns",
       "A reply looks at turns, and at their words",
       "Hierarchical attention in a dialogue: while each word of the reply (a row) is written, "
       "the model looks at the turns, whose columns come first (U the user's, S the system's), "
       "and at the words within each, which share the weight of their turn. What the user said "
       "can be copied from where it stands; what only a database knows stands in brackets.",
       {"chat", "I need a bus from Fresno.", "Where are you going?",
        "To Anaheim on March 5th."},
       {}},
      {"entailment",
       "Does one sentence follow from another?",
       "Each row is a word of the hypothesis, each column a word of the premise. Two "
       "recurrent readers look at each other's words, and what each word found is compared "
       "with it (Chen et al., 2017). Equal words meet, and words without a partner look at "
       "what comes nearest.",
       {"entail", "Two young women in red dresses are playing guitars on a stage.",
        "Two people in dresses make music."},
       {}},
      {"the-tree-of-a-sentence",
       "The tree of a sentence",
       "Biaffine attention (Dozat and Manning, 2017): each word attends to all others and to a "
       "root, and where it looks most is the word it depends on. The arcs are the likeliest "
       "tree; each points from a head to a dependent and names the relation.",
       {"parse", "She saw the old man who lives by the sea."},
       {}},
      {"words-that-decide",
       "Which words and sentences decide a label",
       "Hierarchical attention (Yang et al., 2016): attention over the words of a sentence "
       "makes its vector, attention over the sentences that of the text. A bar is the weight "
       "of a sentence, a shade that of a word within it. Nobody told the model which words "
       "tell of a section.",
       {"classify", "--model", "classify-sections-hierarchical",
        "This program shows the planets and stars of tonight's sky. It is easy to install. "
        "Telescopes can be moved from within it."},
       {}},
      {"earlier-words",
       "Which earlier words each new word looked at",
       "A causal Transformer writes a word at a time and may look at what is written already, "
       "so that nothing stands above the diagonal. A row is a word as it was chosen; the mark "
       "that begins the text is where heads rest that need nothing.",
       {"write", "The people of the United States", "--tokens", "24"},
       {}},
  };
  return kAll;
}

/// A figure of a recording, which does not ship: its picture stays where one was drawn.
constexpr const char* kHeard = "words-in-a-sound.svg";
constexpr const char* kHeardSection = R"(
## Where in a sound each word was heard

Above, how loud each frequency is at each time; below, a row for each word that was written, and which frames of the
sound the decoder's cross-attention looked at meanwhile. The words stand in the order in which they were said, so the
weights run down a diagonal; the frames around them are the times that follow from it. A reader of LibriVox says it (the
recording is in Debian's `pocketsphinx-testdata` and does not ship here): any recording of yours can stand in its place.

![Where in a sound each word was heard](gallery/words-in-a-sound.svg)

```sh
attn transcribe talk.wav --map words-in-a-sound.svg
```
)";

std::string quoted(const std::string& argument) {
  return argument.find_first_of(" .") == std::string::npos ? argument : "\"" + argument + "\"";
}

std::string typed(const Picture& picture, const std::string& map) {
  std::string line = "attn";
  for (const std::string& argument : picture.command) line += " " + quoted(argument);
  return line + " --map " + map;
}

struct GalleryOptions {
  std::string out;
  std::string format = "svg";
  Device device = Device::cpu;
  std::vector<std::string> only;
};

constexpr const char* kPageBegins =
    "# Gallery\n\nThe figures attention is taught with, redrawn from trained models and real "
    "data by `attn gallery`. The line under each\nis the command that draws it.\n";

int gallery(const GalleryOptions& options, const Streams& streams) {
  check_device(options.device, "attn gallery");
  const fs::path folder = fs::path(options.out) / "gallery";
  tasks::make_folder(folder);
  std::string sections;
  int status = success;
  for (const Figure& figure : figures()) {
    const bool asked =
        options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), figure.name) != options.only.end();
    if (!asked) continue;
    fmt::print(streams.err, "attn: drawing {}\n", figure.name);
    std::string images;
    std::string commands;
    for (const Picture& picture : figure.pictures()) {
      const std::string file = picture.name + "." + options.format;
      std::vector<std::string> arguments = picture.command;
      arguments.insert(arguments.end(), {"--map", (folder / file).string()});
      // The CPU is what every command takes by itself; some know nothing else.
      if (options.device != Device::cpu)
        arguments.insert(arguments.end(), {"--device", std::string(name_of(options.device))});
      if (run(arguments, streams) != success) {
        fmt::print(streams.err, "attn: {} could not be drawn\n", picture.name);
        status = failure;
        continue;
      }
      images += fmt::format("![{}](gallery/{})\n\n", figure.title, file);
      commands += typed(picture, file) + "\n";
    }
    sections += fmt::format("\n## {}\n\n{}\n\n{}```sh\n{}```\n", figure.title,
                            wrap(figure.paragraph), images, commands);
  }
  if (status != success) {
    fmt::print(streams.err, "attn: gallery.md is left as it was, since figures are missing\n");
    return status;
  }
  // A page of some figures would have lost the others.
  if (!options.only.empty()) {
    fmt::print(streams.out, "{}", sections);
    return status;
  }
  if (fs::exists(folder / kHeard)) sections += kHeardSection;
  files::atomic_write(fs::path(options.out) / "gallery.md",
                      std::string(kPageBegins) + sections);
  fmt::print(streams.out, "{}\n", (fs::path(options.out) / "gallery.md").string());
  return status;
}

}  // namespace

void add_gallery(CLI::App& app, Action& action) {
  auto options = std::make_shared<GalleryOptions>();
  CLI::App* command = app.add_subcommand(
      "gallery", "Redraw the figures of docs/gallery.md from trained models");
  command->footer(
      "\nWrites gallery.md and a picture for each figure beside it. Each is one command with "
      "--map,\nwhich the page shows: change the text and draw your own. With --only gallery.md "
      "stays as it\nis, and what it has of those figures is printed.\n"
      "\nExamples:\n"
      "    attn gallery --out pictures\n"
      "    attn gallery --out pictures --only translation --format png");
  command->add_option("--out", options->out, "Folder for gallery.md and the pictures")
      ->required()
      ->type_name("DIR");
  std::vector<std::string> names;
  for (const Figure& figure : figures()) names.push_back(figure.name);
  command->add_option("--only", options->only, "Draw this figure only; may be repeated")
      ->type_name("FIGURE")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
  command->add_option("--format", options->format, "Format of the pictures: svg, pdf or png")
      ->capture_default_str()
      ->check(CLI::IsMember({"svg", "pdf", "png"}));
  add_device_flag(*command, options->device, "Device that computes the models");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return gallery(*options, streams); };
  });
}

}  // namespace attn::tools
