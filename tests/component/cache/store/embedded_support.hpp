#pragma once
// What the tests of the embedded store share: a directory that goes away, a store that is called like a function, a
// second look at its file.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/store/embedded.hpp"
#include "tests/support/sample_entry.hpp"

namespace idem::test {

namespace net = upstream::net;
using namespace std::chrono_literals;

class scratch {
public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "idem-store-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    ~scratch() {
        std::error_code ec;
        std::filesystem::remove_all(path_, ec);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Lines said by a store, from any thread.
class sayings {
public:
    std::function<void(std::string_view)> sink() {
        return [this](std::string_view line) {
            const std::lock_guard lock(mutex_);
            lines_.emplace_back(line);
        };
    }
    [[nodiscard]] bool heard(std::string_view part) const {
        const std::lock_guard lock(mutex_);
        for (const auto& line : lines_)
            if (line.find(part) != std::string::npos) return true;
        return false;
    }
    [[nodiscard]] std::size_t count() const {
        const std::lock_guard lock(mutex_);
        return lines_.size();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

/// Runs one coroutine to its end on a context of its own, which is gone afterwards.
template <class T>
T wait(net::task<T> task) {
    net::asio::io_context context(1);
    std::optional<T> result;
    std::exception_ptr error;
    net::asio::co_spawn(context.get_executor(), std::move(task), [&](std::exception_ptr e, T value) {
        error = e;
        result = std::move(value);
    });
    context.run();
    if (error) std::rethrow_exception(error);
    return std::move(*result);
}

inline std::unique_ptr<cache::store> open(const std::string& path, sayings* said = nullptr,
                                          const std::function<void(cache::embedded_options&)>& set = {}) {
    cache::embedded_options options;
    options.path = path;
    options.size = 64 << 20;
    options.deadline = 20s;  // a busy machine is no fault; tests of the deadline set their own
    if (said != nullptr) options.log = said->sink();
    if (set) set(options);
    std::string error;
    auto store = cache::open_embedded(std::move(options), error);
    REQUIRE_MESSAGE(store != nullptr, error);
    return store;
}

// The store sweeps by the machine's clock, so entries of tests live in a far future.
inline constexpr cache::unix_ms born = 4'000'000'000'000;
inline constexpr cache::unix_ms now = born + 1000;
inline cache::entry_ptr lasting(std::string_view name, std::string body = "{}", cache::unix_ms created = born) {
    return sample(name, std::move(body), created);
}

inline cache::put_result put(cache::store& store, cache::entry_ptr e, id128 replaces = {}, cache::unix_ms at = now) {
    return wait(store.put(std::move(e), replaces, at));
}
inline cache::lookup find(cache::store& store, std::string_view name, cache::unix_ms at = now) {
    return wait(store.find(sample_key(name), at));
}
inline bool stored(cache::store& store, cache::entry_ptr e) {
    return put(store, std::move(e)).status == cache::put_status::stored;
}

/// Polls until `condition` holds; false after `limit`.
template <class Condition>
bool eventually(const Condition& condition, std::chrono::seconds limit = 30s) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        ::usleep(2000);
    }
    return true;
}

/// Another program's connection to the file.
class outside {
public:
    explicit outside(const std::string& directory) {
        REQUIRE(sqlite3_open((directory + "/idem.db").c_str(), &db_) == SQLITE_OK);
        sqlite3_busy_timeout(db_, 10'000);
    }
    ~outside() { sqlite3_close(db_); }
    outside(const outside&) = delete;
    outside& operator=(const outside&) = delete;
    void run(const std::string& sql) {
        char* message = nullptr;
        const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message);
        const std::string text = message != nullptr ? message : "";
        sqlite3_free(message);
        REQUIRE_MESSAGE(code == SQLITE_OK, text);
    }
    [[nodiscard]] std::string ask(const std::string& sql) {
        std::string out;
        const auto each = [](void* to, int columns, char** values, char**) {
            for (int i = 0; i < columns; ++i)
                *static_cast<std::string*>(to) +=
                    (i > 0 ? "|" : "") + std::string(values[i] != nullptr ? values[i] : "");
            return 0;
        };
        REQUIRE(sqlite3_exec(db_, sql.c_str(), each, &out, nullptr) == SQLITE_OK);
        return out;
    }

private:
    sqlite3* db_ = nullptr;
};

}  // namespace idem::test
