#include "cache/entry/compress.hpp"

#include <zstd.h>

#include <memory>

namespace idem::cache {
namespace {

// Entries are written once on the way out and small: the fastest level already finds most of what JSON repeats.
constexpr int level = 1;

struct free_context {
    void operator()(ZSTD_CCtx* c) const noexcept { ZSTD_freeCCtx(c); }
    void operator()(ZSTD_DCtx* c) const noexcept { ZSTD_freeDCtx(c); }
};

ZSTD_CCtx* compressor() {
    thread_local const std::unique_ptr<ZSTD_CCtx, free_context> context(ZSTD_createCCtx());
    return context.get();
}

ZSTD_DCtx* decompressor() {
    thread_local const std::unique_ptr<ZSTD_DCtx, free_context> context(ZSTD_createDCtx());
    return context.get();
}

}  // namespace

bool append_compressed(std::string& out, std::string_view data) {
    ZSTD_CCtx* const context = compressor();
    if (context == nullptr) return false;
    const std::size_t before = out.size();
    const std::size_t worth = data.size() - data.size() / 8;
    // A frame that does not fit is not worth having, so the room is its limit.
    out.resize(before + worth);
    const std::size_t size = ZSTD_compressCCtx(context, out.data() + before, worth, data.data(), data.size(), level);
    const bool helped = ZSTD_isError(size) == 0;
    out.resize(helped ? before + size : before);
    return helped;
}

bool decompress(std::string& out, std::string_view data, std::size_t size) {
    ZSTD_DCtx* const context = decompressor();
    if (context == nullptr) return false;
    if (ZSTD_getFrameContentSize(data.data(), data.size()) != size) return false;
    // Several frames in a row decode as one; the content size speaks of the first only.
    if (ZSTD_findFrameCompressedSize(data.data(), data.size()) != data.size()) return false;
    out.resize(size);
    return ZSTD_decompressDCtx(context, out.data(), size, data.data(), data.size()) == size;
}

}  // namespace idem::cache
