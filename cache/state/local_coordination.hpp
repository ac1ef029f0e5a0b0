#pragma once
// Records and leases of this process alone: what there is where no second tier is shared. Any thread; its coroutines
// never suspend.
#include <map>
#include <mutex>
#include <string>

#include "cache/store/coordination.hpp"

namespace idem::cache {

class local_coordination final : public coordination {
public:
    [[nodiscard]] upstream::net::task<record_result> read_record(std::string name) override;
    [[nodiscard]] upstream::net::task<record_result> write_record(std::string name, std::string value,
                                                                  std::uint64_t expected) override;
    [[nodiscard]] upstream::net::task<lease_result> lease(std::string name, id128 holder,
                                                          std::chrono::milliseconds length) override;
    [[nodiscard]] upstream::net::task<lease_result> release(std::string name, id128 holder, bool settled) override;

    // The same without a coroutine, for whoever has the time at hand.
    [[nodiscard]] record_result read(const std::string& name) const;
    [[nodiscard]] record_result write(const std::string& name, std::string value, std::uint64_t expected);
    [[nodiscard]] lease_result take(const std::string& name, const id128& holder, std::chrono::milliseconds length,
                                    upstream::net::time_point now);
    [[nodiscard]] lease_result give_back(const std::string& name, const id128& holder, bool settled,
                                         upstream::net::time_point now);

private:
    struct record {
        std::string value;
        std::uint64_t version = 0;
    };
    struct held {
        id128 holder, next;  // holder: nobody where it was given back, to `next` until then
        upstream::net::time_point until;
    };
    mutable std::mutex mutex_;
    std::map<std::string, record> records_;
    std::map<std::string, held> leases_;
};

}  // namespace idem::cache
