#pragma once
// The current epoch of an upstream as a record that all gateways on one store share: made by whoever proposes first,
// and followed by another one by compare-and-set, so that two gateways never open two. One record an upstream,
// `epoch/<upstream>`: "idem-epoch 1 <id> <environment>" in hexadecimal.
#include <optional>
#include <string>
#include <string_view>

#include "cache/state/epochs.hpp"
#include "cache/store/coordination.hpp"

namespace idem::cache {

[[nodiscard]] std::string encode_epoch(const epoch_record& record);
/// Nothing: another format.
[[nodiscard]] std::optional<epoch_record> decode_epoch(std::string_view text);

struct epoch_result {
    enum class status : std::uint8_t {
        known,   // `record`: the one that is there, or the proposal
        absent,  // there is none, and none was proposed
        passed,  // of advance_epoch: it is another one by now; `record`
        failed,  // `why`; entry_unreadable: what is there is damaged or of a newer format, and is left alone
    } is = status::failed;
    epoch_record record;
    reason why = reason::none;
};

/// Create-if-absent.
[[nodiscard]] upstream::net::task<epoch_result> current_epoch(coordination& in, std::string upstream,
                                                              std::optional<epoch_record> proposal);
/// From the epoch `from` to `to`; known: it is `to` now.
[[nodiscard]] upstream::net::task<epoch_result> advance_epoch(coordination& in, std::string upstream, id128 from,
                                                              epoch_record to);

}  // namespace idem::cache
