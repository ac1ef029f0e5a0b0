#pragma once
// Runs answered requests again and compares: takes jobs from the desk, asks a replica when nobody else wants it, keeps
// the book of what came of it, and has a replica quarantined that is to blame too often. It writes to the store's
// records and nowhere else: no entry is ever touched.
//
// Control thread. What it refers to outlives it; its tasks are its own, and end() joins them.
#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "gateway/pipeline/services.hpp"
#include "gateway/shadow/desk.hpp"
#include "gateway/shadow/run.hpp"
#include "upstream/client/pool.hpp"
#include "upstream/determinism/shadow_book.hpp"
#include "upstream/determinism/shadow_target.hpp"
#include "upstream/net/event.hpp"
#include "upstream/net/task_group.hpp"

namespace idem::gateway::shadow {

namespace determinism = upstream::determinism;

class runner {
public:
    /// `quarantine` orders it of a replica of an upstream; false: the order could not be given.
    using quarantine_order = std::function<net::task<bool>(std::size_t upstream, std::size_t replica)>;
    runner(net::executor on, pipeline::shared& common, desk& from, quarantine_order quarantine);
    ~runner();
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;

    /// Before any other thread knows the desk.
    void start();
    /// Ends what runs, and writes down what was counted.
    [[nodiscard]] net::task<void> end();
    // Counted by this gateway and by those that share its store, as far as it is known.
    [[nodiscard]] std::uint64_t total(determinism::shadow_result r) const;
    /// Absent: no run of it was promised to be the same.
    [[nodiscard]] std::optional<double> score(std::size_t upstream, std::string_view replica) const;
    /// The body of GET /admin/v1/divergences.
    [[nodiscard]] boost::json::object divergences() const;

private:
    struct seat;
    [[nodiscard]] net::task<void> work(seat& s);
    [[nodiscard]] net::task<void> write_for_ever();
    /// Whether somebody else's writing came first.
    [[nodiscard]] net::task<bool> write(seat& s);
    [[nodiscard]] net::task<bool> kept(const job& j) const;
    [[nodiscard]] net::task<void> perform(seat& s, job j);
    [[nodiscard]] net::task<void> diverged(seat& s, job& j, determinism::observation stored, ran again,
                                           std::size_t replica, determinism::shadow_wish wish);
    [[nodiscard]] determinism::shadow_wish wish_of(const job& j, std::size_t turn) const;
    void take_dropped(seat& s);

    net::executor on_;
    pipeline::shared& common_;
    desk& from_;
    quarantine_order quarantine_;
    upstream::client::pool connections_;
    net::task_group tasks_, writer_;
    net::event stop_;  // of the writer
    pipeline::services at_;
    std::vector<std::unique_ptr<seat>> seats_;
};

}  // namespace idem::gateway::shadow
