#pragma once
// What the admin API shows: the wiring's answer to gateway/admin/view.hpp. Control thread.
#include "gateway/admin/view.hpp"

namespace idem::gateway::app {

class runtime;

class admin_view final : public admin::view {
public:
    explicit admin_view(runtime& of) : of_(of) {}
    [[nodiscard]] std::vector<admin::check> ready() const override;
    [[nodiscard]] std::string metrics(bool open_metrics) const override;
    [[nodiscard]] boost::json::object stats() const override;
    [[nodiscard]] upstream::net::task<admin::found> find(cache::cache_key key) override;
    [[nodiscard]] upstream::net::task<admin::entry_list> list(admin::entry_filter wanted) override;
    [[nodiscard]] upstream::net::task<admin::erased> erase(cache::cache_key key) override;

    [[nodiscard]] boost::json::object replicas() const override;
    [[nodiscard]] upstream::net::task<admin::order_result> order(std::string upstream, std::string replica,
                                                                 std::string action) override;
    [[nodiscard]] boost::json::object epochs_list() const override;
    [[nodiscard]] boost::json::object divergences() const override;
    [[nodiscard]] upstream::net::task<admin::order_result> open_epoch(std::string upstream, std::string why,
                                                                      std::string replica) override;
    [[nodiscard]] upstream::net::task<admin::order_result> activate_epoch(id128 id) override;
    [[nodiscard]] upstream::net::task<admin::order_result> purge(cache::ban_kind kind, std::string value) override;
    [[nodiscard]] upstream::net::task<admin::order_result> erase_all(cache::ban_kind kind, std::string value) override;
    [[nodiscard]] upstream::net::task<admin::order_result> reach(cache::ban_kind kind, std::string value) override;
    [[nodiscard]] upstream::net::task<admin::found_receipt> receipt(cache::cache_key key, id128 fill) override;
    [[nodiscard]] upstream::net::task<admin::drift_found> drift(id128 before, id128 after) override;

private:
    [[nodiscard]] upstream::net::task<admin::order_result> ban(cache::ban_kind kind, std::string value, bool erase);
    [[nodiscard]] admin::check epochs() const;
    [[nodiscard]] upstream::net::task<admin::erased> erase_forms(cache::cache_key key);
    [[nodiscard]] upstream::net::task<admin::erased> erase_one(cache::cache_key key);

    runtime& of_;
};

}  // namespace idem::gateway::app
