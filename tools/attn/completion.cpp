#include "tools/attn/completion.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/registry.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {
namespace {

struct Flag {
  std::string name;  ///< "--beam"
  std::string help;
  std::vector<std::string> choices;  ///< of a flag that takes one of a few words
  bool takes_value;
  bool or_file = false;  ///< a file or a folder may stand in the place of a choice
};

struct Command {
  std::string name;
  std::string help;
  std::vector<Flag> flags;
  std::vector<std::string> first;  ///< what its first argument may be, of a few words
};

std::vector<std::string> split_at(char separator, const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == separator) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// The words a value is one of; nothing for other kinds of values. CLI11 writes what checks say
/// behind the type: "cpu|gpu:{cpu,gpu}", "TASK:{pronounce,translate}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::string name = type.substr(0, type.find(':'));
  if (name.find('|') != std::string::npos) return split_at('|', name);
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return split_at(',', type.substr(open + 2, close - open - 2));
}

/// What a name may be that is too long a list for --help.
std::vector<std::string> mechanism_names() {
  std::vector<std::string> names;
  for (const nn::Mechanism* mechanism : nn::mechanisms()) names.push_back(mechanism->name);
  return names;
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& [name, folder] : shipped_models()) names.push_back(name);
  return names;
}

/// Whether a flag takes the folder of a model or the name of one that ships.
bool names_a_model(const CLI::Option& option) {
  return option.check_lname("model") && option.get_type_name() == "DIR" &&
         option.get_description().find("ships") != std::string::npos;
}

/// Of the argument that comes first; none where that may be anything.
std::vector<std::string> first_choices(const CLI::App& command) {
  if (command.get_name() == "mechanisms" || command.get_name() == "gradcheck")
    return mechanism_names();
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) return choices_of(option->get_type_name());
  return {};
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{sub->get_name(), sub->get_description(), {}, first_choices(*sub)};
    for (const CLI::Option* option : sub->get_options())
      for (const std::string& name : option->get_lnames()) {
        const bool model = names_a_model(*option);
        command.flags.push_back(
            {.name = "--" + name,
             .help = option->get_description(),
             .choices = model ? shipped_names() : choices_of(option->get_type_name()),
             .takes_value = option->get_items_expected_max() > 0,
             .or_file = model});
      }
    commands.push_back(std::move(command));
  }
  Command help{"help", "Show what a command can do", {}, {}};
  for (const Command& command : commands) help.first.push_back(command.name);
  commands.push_back(std::move(help));
  return commands;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string flag_words(const Command& command) {
  std::vector<std::string> names;
  names.reserve(command.flags.size());
  for (const Flag& flag : command.flags) names.push_back(flag.name);
  return joined(names);
}

std::string command_words(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) names.push_back(command.name);
  return joined(names);
}

/// Text between single quotes of any of the three shells.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string text =
      "# bash completion of attn: source this file, or put it in\n"
      "# ~/.local/share/bash-completion/completions/attn\n"
      "_attn() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W {} -- \"$word\"))\n    return\n  fi\n",
                      shell_quoted(command_words(commands) + " --help --version"));
  text += "  case ${COMP_WORDS[1]}:$before in\n";
  for (const Command& command : commands)
    for (const Flag& flag : command.flags)
      if (!flag.choices.empty())
        text += fmt::format(
            "    {}:{}) COMPREPLY=($(compgen {}-W {} -- \"$word\")); return ;;\n", command.name,
            flag.name, flag.or_file ? "-d " : "", shell_quoted(joined(flag.choices)));
  text +=
      "  esac\n  if [[ $word != -* ]]; then\n"
      "    case ${COMP_WORDS[1]}:$COMP_CWORD in\n";
  for (const Command& command : commands)
    if (!command.first.empty())
      text += fmt::format("      {}:2) COMPREPLY=($(compgen -W {} -- \"$word\")); return ;;\n",
                          command.name, shell_quoted(joined(command.first)));
  text +=
      "    esac\n    compopt -o default\n    COMPREPLY=()\n    return\n  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands)
    text += fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$word\")) ;;\n", command.name,
                        shell_quoted(flag_words(command)));
  return text + "  esac\n}\ncomplete -F _attn attn ./attn\n";
}

/// _arguments takes [ ] and : for its own.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string text =
      "#compdef attn\n"
      "# zsh completion of attn: put this file as _attn into a folder of $fpath\n"
      "_attn() {\n  local -a commands\n  commands=(\n";
  for (const Command& command : commands)
    text += "    " + shell_quoted(command.name + ":" + zsh_text(command.help)) + "\n";
  text +=
      "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (const Command& command : commands) {
    text += "    " + command.name + ") _arguments";
    for (const Flag& flag : command.flags) {
      std::string spec = flag.name + "[" + zsh_text(flag.help) + "]";
      if (flag.or_file) {
        spec += ":value:_alternative \"names:name:(" + joined(flag.choices) +
                ")\" \"folders:folder:_files -/\"";
      } else if (!flag.choices.empty()) {
        spec += ":value:(" + joined(flag.choices) + ")";
      } else if (flag.takes_value) {
        spec += ":value:_files";
      }
      text += " \\\n      " + shell_quoted(spec);
    }
    if (!command.first.empty())
      text += " \\\n      " + shell_quoted("1:what:(" + joined(command.first) + ")");
    text += " \\\n      '*:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_attn \"$@\"\n";
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text =
      "# fish completion of attn: put this file into ~/.config/fish/completions/attn.fish\n";
  for (const Command& command : commands)
    text += fmt::format("complete -c attn -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        shell_quoted(command.help));
  for (const Command& command : commands)
    if (!command.first.empty())
      text += fmt::format("complete -c attn -n '__fish_seen_subcommand_from {}' -a {}\n",
                          command.name, shell_quoted(joined(command.first)));
  for (const Command& command : commands)
    for (const Flag& flag : command.flags)
      text += fmt::format(
          "complete -c attn -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n", command.name,
          flag.name.substr(2),
          !flag.choices.empty()
              ? (flag.or_file ? " -r -a " : " -x -a ") + shell_quoted(joined(flag.choices))
          : flag.takes_value ? " -r"
                             : "",
          shell_quoted(flag.help));
  return text;
}

std::string twin(const std::string& command, const std::string& flag) {
  std::string name = "ATTN_" + command + "_" + flag;
  for (char& c : name)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const std::vector<Command> commands = commands_of(app);
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  fail("completion is there for bash, zsh and fish, not for '", shell, "'");
}

void add_environment_twins(CLI::App& app) {
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::Option* option : sub->get_options())
      if (!option->get_lnames().empty() && option != sub->get_help_ptr())
        option->envname(twin(sub->get_name(), option->get_lnames().front()));
}

}  // namespace attn::tools
