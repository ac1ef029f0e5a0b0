#pragma once
// A chain on disk: opened where it ended, appended to, synced. A line that a killed process left unfinished is cut off
// and told in the chain. One thread at a time; of several processes on one directory each takes a file of its own,
// which it holds locked.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/receipts/chain.hpp"

namespace idem::gateway::receipts {

class chain_file {
public:
    chain_file() = default;
    ~chain_file();
    chain_file(const chain_file&) = delete;
    chain_file& operator=(const chain_file&) = delete;

    /// `directory` exists. An error text, empty if all is well. `said` gets what operators should know of what was
    /// found. A file that is damaged is left alone, and another one begun.
    [[nodiscard]] std::string open(const std::string& directory, std::int64_t unix_ms, std::vector<std::string>& said);
    /// After full(): a new file, whose first line names this chain and where it ended.
    [[nodiscard]] std::string roll(const std::string& directory, std::int64_t unix_ms, std::vector<std::string>& said);
    /// Appends one record a body, and syncs. False: nothing of it is there, and the chain stands where it stood.
    [[nodiscard]] bool append(const std::vector<std::string>& bodies);
    /// It is time to go on in another file, so that opening stays quick.
    [[nodiscard]] bool full() const noexcept { return size_ >= most_bytes; }
    static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
    [[nodiscard]] const chain_end& end() const noexcept { return end_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// The last error, for people.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    enum class found : std::uint8_t { good, locked, full, damaged, failed };
    [[nodiscard]] found try_open(const std::string& path, std::int64_t unix_ms, std::vector<std::string>& said);
    [[nodiscard]] bool write_all(std::string_view bytes);
    void close() noexcept;

    int file_ = -1;
    std::string path_, trouble_;
    chain_end end_, before_;  // before_: the chain that this one goes on from; n is 0 where there is none
    std::uint64_t size_ = 0;  // of what is whole
};

}  // namespace idem::gateway::receipts
