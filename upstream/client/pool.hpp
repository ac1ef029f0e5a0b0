#pragma once
// Idle connections to replicas, one pool a thread. Must outlive every exchange made on it. Idle connections close after
// `idle`, at most `per_target` are kept; bytes or an end that arrive on an idle connection close it.
#include <cstddef>
#include <memory>

#include "upstream/client/target.hpp"
#include "upstream/net/net.hpp"

namespace idem::upstream::client {

struct pool_limits {
    std::size_t per_target = 256;
    net::duration idle = std::chrono::seconds(30);
    net::duration age = std::chrono::minutes(1);  // used no longer: the name may mean another address by then
};

class pool {
public:
    explicit pool(net::executor on, pool_limits limits = {});
    ~pool();
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    [[nodiscard]] std::size_t idle() const noexcept;
    /// Closes all idle connections; those in use close when their exchange ends.
    void drain() noexcept;

    struct impl;
    [[nodiscard]] impl& self() noexcept { return *impl_; }

private:
    std::unique_ptr<impl> impl_;
};

}  // namespace idem::upstream::client
