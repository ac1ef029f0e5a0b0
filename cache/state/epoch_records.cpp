#include "cache/state/epoch_records.hpp"

namespace idem::cache {

namespace net = upstream::net;

namespace {

constexpr std::string_view format = "idem-epoch 1 ";

std::string record_of(std::string_view upstream) {
    return "epoch/" + std::string(upstream);
}

epoch_result failed(reason why) {
    return {epoch_result::status::failed, {}, why};
}

epoch_result found(std::string_view text, epoch_result::status is) {
    const auto record = decode_epoch(text);
    if (!record) return failed(reason::entry_unreadable);
    return {is, *record, reason::none};
}

}  // namespace

std::string encode_epoch(const epoch_record& record) {
    std::string text(format);
    text.append(to_hex(record.id.bytes)).append(" ").append(to_hex(record.environment.bytes));
    return text;
}

std::optional<epoch_record> decode_epoch(std::string_view text) {
    const std::size_t id_at = format.size(), environment_at = id_at + 33;
    if (text.size() != environment_at + 64) return std::nullopt;
    const auto id = id128_from_hex(text.substr(id_at, 32));
    const auto environment = digest_from_hex(text.substr(environment_at));
    if (!id || !environment) return std::nullopt;
    const epoch_record record{*id, *environment};
    if (encode_epoch(record) != text) return std::nullopt;
    return record;
}

net::task<epoch_result> current_epoch(coordination& in, std::string upstream, std::optional<epoch_record> proposal) {
    const record_result there = co_await in.read_record(record_of(upstream));
    if (there.status == record_status::ok) co_return found(there.value, epoch_result::status::known);
    if (there.status != record_status::absent) co_return failed(there.why);
    if (!proposal) co_return epoch_result{epoch_result::status::absent, {}, reason::none};
    const record_result put = co_await in.write_record(record_of(upstream), encode_epoch(*proposal), 0);
    if (put.status == record_status::ok) co_return epoch_result{epoch_result::status::known, *proposal, reason::none};
    if (put.status == record_status::conflict) co_return found(put.value, epoch_result::status::known);
    co_return failed(put.why);
}

net::task<epoch_result> advance_epoch(coordination& in, std::string upstream, id128 from, epoch_record to) {
    const record_result there = co_await in.read_record(record_of(upstream));
    if (there.status == record_status::absent) co_return epoch_result{epoch_result::status::absent, {}, reason::none};
    if (there.status != record_status::ok) co_return failed(there.why);
    const epoch_result now = found(there.value, epoch_result::status::known);
    if (now.is == epoch_result::status::failed || now.record == to) co_return now;
    if (now.record.id != from) co_return epoch_result{epoch_result::status::passed, now.record, reason::none};
    const record_result put = co_await in.write_record(record_of(upstream), encode_epoch(to), there.version);
    if (put.status == record_status::ok) co_return epoch_result{epoch_result::status::known, to, reason::none};
    if (put.status == record_status::conflict) co_return found(put.value, epoch_result::status::passed);
    co_return failed(put.status == record_status::failed ? put.why : reason::store_unavailable);
}

}  // namespace idem::cache
