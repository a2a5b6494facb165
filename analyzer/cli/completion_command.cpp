// `reprobe completion SHELL`: a completion script, made from the options that the commands really have.
#include "analyzer/cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace reprobe::cli {
namespace {

struct OptionInfo {
  std::vector<std::string> names; // "-o", "--output"
  std::vector<std::string> values;
  std::string description;
  bool takes_value = false;
};

struct CommandInfo {
  std::string name, description;
  std::vector<OptionInfo> options;
};

// CLI11 describes a choice as "TEXT:{text,json}".
std::vector<std::string> choices(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> values;
  if (open == std::string::npos || close == std::string::npos)
    return values;
  std::string list = type.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    values.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return values;
}

CommandInfo describe(const CLI::App& command) {
  CommandInfo info{command.get_name(), command.get_description(), {}};
  info.description = info.description.substr(0, info.description.find('\n'));
  for (const CLI::Option* option : command.get_options()) {
    OptionInfo described;
    for (const std::string& name : option->get_snames())
      described.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames())
      described.names.push_back("--" + name);
    if (described.names.empty())
      continue; // positional: files
    described.takes_value = option->get_items_expected_max() > 0;
    described.values = choices(option->get_type_name());
    described.description = option->get_description();
    info.options.push_back(std::move(described));
  }
  return info;
}

std::vector<std::string> names_of(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  for (const CommandInfo& command : commands)
    names.push_back(command.name);
  return names;
}

std::string single_quoted(std::string text, const char* quote) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += std::char_traits<char>::length(quote))
    text.replace(at, 1, quote);
  return "'" + text + "'";
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::string script = fmt::format("# bash completion of reprobe: source this file\n"
                                   "_reprobe() {{\n"
                                   "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
                                   "  COMPREPLY=()\n"
                                   "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                                   "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n"
                                   "    return\n"
                                   "  fi\n"
                                   "  case \"${{COMP_WORDS[1]}}\" in\n",
                                   fmt::join(names_of(commands), " "));
  for (const CommandInfo& command : commands) {
    script += fmt::format("  {})\n    case \"$previous\" in\n", command.name);
    for (const OptionInfo& option : command.options)
      if (!option.values.empty())
        script += fmt::format("    {})\n      COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n      return ;;\n",
                              fmt::join(option.names, "|"), fmt::join(option.values, " "));
    script += fmt::format("    esac\n"
                          "    case \"$current\" in\n"
                          "    -*) COMPREPLY=($(compgen -W '{}' -- \"$current\")) ;;\n"
                          "    esac ;;\n",
                          fmt::join(names_of(command), " "));
  }
  return script + "  esac\n}\ncomplete -o default -F _reprobe reprobe\n";
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string script = "#compdef reprobe\n# zsh completion of reprobe: put this file, as _reprobe, into a folder of $fpath\n"
                       "_reprobe() {\n  local -a commands\n  commands=(\n";
  for (const CommandInfo& command : commands)
    script += fmt::format("    {}\n", single_quoted(command.name + ":" + command.description, "'\\''"));
  script += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandInfo& command : commands) {
    script += fmt::format("  {})\n    _arguments -S", command.name);
    for (const OptionInfo& option : command.options) {
      std::string description;
      for (const char c : option.description)
        description += c == '[' || c == ']' || c == ':' || c == '\n' ? ' ' : c;
      for (const std::string& name : option.names) {
        std::string spec = name + "[" + description + "]";
        if (option.takes_value)
          spec += ":value:" + (option.values.empty() ? "_files" : fmt::format("({})", fmt::join(option.values, " ")));
        script += " \\\n      " + single_quoted("*" + spec, "'\\''");
      }
    }
    script += " \\\n      '*:file:_files' ;;\n";
  }
  return script + "  esac\n}\nif [ \"$funcstack[1]\" = _reprobe ]; then _reprobe \"$@\"; else compdef _reprobe reprobe; fi\n";
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string script = "# fish completion of reprobe: put this file into ~/.config/fish/completions\n";
  for (const CommandInfo& command : commands)
    script += fmt::format("complete -c reprobe -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                          single_quoted(command.description, "\\'"));
  for (const CommandInfo& command : commands)
    for (const OptionInfo& option : command.options) {
      script += fmt::format("complete -c reprobe -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value)
        script += option.values.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      script += " -d " + single_quoted(option.description.substr(0, option.description.find('\n')), "\\'") + "\n";
    }
  return script;
}

} // namespace

void add_completion_command(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell, &exit_code] {
    std::vector<CommandInfo> commands;
    for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(describe(*subcommand));
    fmt::print("{}", *shell == "bash" ? bash(commands) : *shell == "zsh" ? zsh(commands) : fish(commands));
    exit_code = 0;
  });
}

} // namespace reprobe::cli
