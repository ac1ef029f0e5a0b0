#include "gateway/cli/completion.hpp"

#include <CLI/CLI.hpp>

namespace idem::gateway::cli {

namespace {

struct command {
    std::string path;  // "config effective"; empty for the program itself
    std::string help;
    std::vector<std::string> words;  // subcommands and long flags
};

void collect(const CLI::App& app, const std::string& path, std::vector<command>& out) {
    command c{path, app.get_description(), {}};
    for (const auto* sub : app.get_subcommands({})) c.words.push_back(sub->get_name());
    for (const auto* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) c.words.push_back("--" + name);
    }
    out.push_back(std::move(c));
    for (const auto* sub : app.get_subcommands({})) {
        collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), out);
    }
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& w : words) out += (out.empty() ? "" : " ") + w;
    return out;
}

// The words before the cursor that are not flags name the command; the longest known prefix wins.
std::string bash(const std::vector<command>& commands) {
    std::string out =
        "_idem() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} path= word\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        [[ $word == -* ]] || path+=\" $word\"\n"
        "    done\n"
        "    local words\n"
        "    case \"${path# }\" in\n";
    for (auto it = commands.rbegin(); it != commands.rend(); ++it) {
        out += "        " + (it->path.empty() ? "*" : "\"" + it->path + "\"*") + ") words=\"" + joined(it->words) +
               "\" ;;\n";
    }
    out +=
        "    esac\n"
        "    if [[ $current == -* || -n $words && $COMP_CWORD -eq 1 || $words != --* ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "    fi\n"
        "}\n"
        "complete -o default -F _idem idem\n";
    return out;
}

std::string fish(const std::vector<command>& commands) {
    std::string out;
    for (const auto& c : commands) {
        std::string condition = "__fish_use_subcommand";
        if (!c.path.empty()) {
            condition = "__fish_seen_subcommand_from " + c.path.substr(c.path.find_last_of(' ') + 1);
        }
        for (const auto& w : c.words) {
            out += "complete -c idem -n '" + condition + "' ";
            out += w.starts_with("--") ? "-l " + w.substr(2) + "\n" : "-f -a " + w + "\n";
        }
    }
    return out;
}

}  // namespace

std::string completion(const CLI::App& app, std::string_view shell) {
    std::vector<command> commands;
    collect(app, "", commands);
    if (shell == "bash") return bash(commands);
    if (shell == "zsh") return "#compdef idem\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands);
    if (shell == "fish") return fish(commands);
    return {};
}

}  // namespace idem::gateway::cli
