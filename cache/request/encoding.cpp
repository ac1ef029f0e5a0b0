#include "cache/request/encoding.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "upstream/http/fields.hpp"

namespace idem::cache {
namespace {

using upstream::http::iequals;

constexpr int largest_window_log = 23;

// Grows `out` by doubling up to `limit` and says where the next bytes go; empty at the limit.
class sink {
public:
    sink(std::string& out, std::size_t limit, std::size_t first) : out_(out), limit_(limit) {
        out_.resize(std::min(limit, std::max(first, std::size_t{1024})));
    }
    char* place() noexcept { return out_.data() + used_; }
    std::size_t room() {
        if (used_ == out_.size() && used_ < limit_) out_.resize(std::min(limit_, out_.size() * 2));
        return out_.size() - used_;
    }
    void add(std::size_t n) noexcept { used_ += n; }
    std::string_view text() const noexcept { return {out_.data(), used_}; }

private:
    std::string& out_;
    std::size_t limit_;
    std::size_t used_ = 0;
};

struct inflater {
    z_stream z{};
    bool ready = inflateInit2(&z, 16 + MAX_WBITS) == Z_OK;  // 16: gzip only
    ~inflater() {
        if (ready) inflateEnd(&z);
    }
};

// RFC 1952 section 2.2: a file is one or more members.
bool gunzip(std::string_view body, sink& out) {
    inflater i;
    if (!i.ready || body.size() > std::numeric_limits<uInt>::max()) return false;
    i.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    i.z.avail_in = static_cast<uInt>(body.size());
    for (;;) {
        const std::size_t room = std::min<std::size_t>(out.room(), std::numeric_limits<uInt>::max());
        char spare;  // at the limit, one byte tells a complete body from one that would go on
        i.z.next_out = reinterpret_cast<Bytef*>(room ? out.place() : &spare);
        i.z.avail_out = room ? static_cast<uInt>(room) : 1;
        const uInt before = i.z.avail_out;
        const int status = inflate(&i.z, Z_NO_FLUSH);
        const std::size_t made = before - i.z.avail_out;
        if (room == 0 && made > 0) return false;
        out.add(room ? made : 0);
        if (status == Z_STREAM_END) {
            if (i.z.avail_in == 0) return true;
            if (inflateReset(&i.z) != Z_OK) return false;
        } else if (status != Z_OK || (made == 0 && i.z.avail_in == 0)) {
            return false;
        }
    }
}

bool unzstd(std::string_view body, sink& out) {
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    if (!context) return false;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, largest_window_log))) return false;
    ZSTD_inBuffer in{body.data(), body.size(), 0};
    for (;;) {
        const std::size_t room = out.room();
        char spare;
        ZSTD_outBuffer to{room ? out.place() : &spare, room ? room : 1, 0};
        const std::size_t left = ZSTD_decompressStream(context.get(), &to, &in);
        if (ZSTD_isError(left) || (room == 0 && to.pos > 0)) return false;
        out.add(to.pos);
        if (left == 0 && in.pos == in.size) return true;
        if (to.pos == 0 && in.pos == in.size) return false;  // ended within a frame
    }
}

std::size_t limit_of(std::size_t size, std::size_t cap) noexcept {
    if (size > cap / expansion_ratio) return cap;
    return std::min(cap, std::max(size * expansion_ratio, expansion_floor));
}

}  // namespace

plain_body decode_body(std::string_view coding, std::string_view body, std::size_t cap, std::string& scratch) {
    if (coding.empty() || iequals(coding, "identity")) return {reason::none, body};
    sink out(scratch, limit_of(body.size(), cap), body.size() * 4);
    bool good = false;
    if (iequals(coding, "gzip") || iequals(coding, "x-gzip")) {  // RFC 9110 section 8.4.1.3
        good = gunzip(body, out);
    } else if (iequals(coding, "zstd")) {
        good = unzstd(body, out);
    }
    if (!good) return {reason::body_encoding, {}};
    return {reason::none, out.text()};
}

}  // namespace idem::cache
