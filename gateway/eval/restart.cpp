#include "gateway/eval/restart.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "upstream/net/event.hpp"

namespace idem::gateway::eval {

namespace net = upstream::net;

namespace {

constexpr net::duration look = std::chrono::milliseconds(20);

// In a process group of its own, so that what it starts can be ended with it. 0 or an errno.
int spawn(const std::vector<std::string>& words, pid_t& child) {
    std::vector<char*> arguments;
    for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));  // as POSIX declares it
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&how, 0);
    const int wrong = posix_spawnp(&child, arguments.front(), &files, &how, arguments.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return wrong;
}

}  // namespace

std::vector<std::string> words_of_command(std::string_view line) {
    std::vector<std::string> words;
    bool within = false;
    char quote = 0;
    for (const char c : line) {
        if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote != 0 ? 0 : c;
            if (!within) words.emplace_back();
            within = true;
        } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            within = false;
        } else {
            if (!within) words.emplace_back();
            within = true;
            words.back() += c;
        }
    }
    if (quote != 0 || (!words.empty() && words.front().empty())) return {};
    return words;
}

net::task<std::string> run_command(net::executor on, std::vector<std::string> words, net::time_point limit,
                                   const bool* stopped) {
    pid_t child = 0;
    if (const int wrong = spawn(words, child); wrong != 0)
        co_return "cannot run " + words.front() + ": " + std::strerror(wrong);
    int status = 0;
    net::event pause(on);
    while (::waitpid(child, &status, WNOHANG) == 0) {
        if (*stopped || net::clock::now() >= limit) {
            ::kill(-child, SIGKILL);
            ::waitpid(child, &status, 0);
            co_return words.front() + (*stopped ? " was interrupted" : " did not end in time");
        }
        [[maybe_unused]] const bool woken = co_await pause.wait(net::clock::now() + look);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) co_return std::string();
    co_return words.front() + (WIFEXITED(status) ? " ended with status " + std::to_string(WEXITSTATUS(status))
                                                 : " was ended by signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace idem::gateway::eval
