#pragma once
// The replicas for one request, best first. Most requests need one: it costs contest::best(), and the others are put in
// order when the first has failed. Pure; one request's.
#include <optional>
#include <vector>

#include "upstream/route/pin.hpp"

namespace idem::upstream::route {

class preference {
public:
    /// `classes`: as rank() has them, of all replicas or empty. `among` must outlive it.
    preference(const contest& among, const digest& request, std::vector<replica_class> classes)
        : among_(among), request_(request), classes_(std::move(classes)) {}
    /// Nothing once every replica that is wanted was given out.
    [[nodiscard]] std::optional<std::uint32_t> next();
    /// Some replica is unwanted for what is known of it.
    [[nodiscard]] bool leaves_out() const noexcept;

private:
    const contest& among_;
    digest request_;
    std::vector<replica_class> classes_;
    std::vector<std::uint32_t> order_;
    std::size_t given_ = 0;
};

}  // namespace idem::upstream::route
