#pragma once
// What gateways on one store agree on besides entries: small named records, changed by compare-and-set, and leases. A
// lease is advice, not a fence: a holder that stops and comes back does not know that its time is over, so whoever
// holds one looks at its own clock, too (Martin Kleppmann, "How to do distributed locking", 2016).
//
// All calls come from I/O threads and complete on the thread that called, within the store's deadline. Trouble is told
// as `failed` with a reason, never by an exception.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "upstream/base/digest.hpp"
#include "upstream/base/reason.hpp"
#include "upstream/net/net.hpp"

namespace idem::cache {

inline constexpr std::size_t longest_record = std::size_t{256} << 10;
inline constexpr std::size_t longest_record_name = 512;
/// How long a released lease is kept for whoever asked for it meanwhile.
inline constexpr std::chrono::milliseconds lease_reserved{500};
/// How long it is remembered how a lease ended.
inline constexpr std::chrono::milliseconds lease_remembered = std::chrono::hours(24);

enum class record_status : std::uint8_t {
    ok,
    conflict,  // of a write: something else is there, or nothing: `value` and `version`
    absent,    // of a read
    failed,    // `why`; a value or name above its cap: entry_too_large
};
struct record_result {
    record_status status = record_status::failed;
    std::string value;  // of a write that was ok: empty, the caller has it
    /// Grows with each write of one record, and begins anywhere: a record that was lost and made again is not taken for
    /// the one that was read before. 0: absent.
    std::uint64_t version = 0;
    reason why = reason::none;
};

enum class lease_status : std::uint8_t { held, taken, failed };
/// How whoever had a lease before left it.
enum class lease_past : std::uint8_t {
    settled,  // given back, with nothing left under way; or it was the holder's own
    unknown,  // nobody has had it, as far as is remembered
    lapsed,   // its time was over, or it was given back in doubt: what was begun under it may go on
};
struct lease_result {
    lease_status status = lease_status::failed;
    bool wanted = false;  // with held: somebody else has asked for it since
    reason why = reason::none;
    lease_past before = lease_past::settled;  // with held
};

/// The version that a write gives a record which has `expected`. From the system's generator where it is new.
[[nodiscard]] std::uint64_t next_version(std::uint64_t expected);

class coordination {
public:
    virtual ~coordination() = default;
    [[nodiscard]] virtual upstream::net::task<record_result> read_record(std::string name) = 0;
    /// Compare-and-set: writes if the record's version is `expected` (0: absent). Never expires.
    [[nodiscard]] virtual upstream::net::task<record_result> write_record(std::string name, std::string value,
                                                                          std::uint64_t expected) = 0;
    /// Acquires the lease, or extends it where `holder` has it, for `length` from now. Where somebody else has it the
    /// call is remembered as a wish: at its release the lease goes to who asked first.
    [[nodiscard]] virtual upstream::net::task<lease_result> lease(std::string name, id128 holder,
                                                                  std::chrono::milliseconds length) = 0;
    /// Gives it back, to whoever asked for it meanwhile: that one has `lease_reserved` to take it. Not `settled`: what
    /// was begun under it may go on, which whoever takes it next is told. `taken`: it was not the holder's (any more),
    /// and nothing was changed.
    [[nodiscard]] virtual upstream::net::task<lease_result> release(std::string name, id128 holder, bool settled) = 0;
};

}  // namespace idem::cache
