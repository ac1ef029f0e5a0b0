#pragma once
// zstd (RFC 8878) with bounds. Contexts are kept per thread, since making one costs more than compressing a short
// answer. Any thread; never throws except for memory.
#include <cstddef>
#include <string>
#include <string_view>

namespace idem::cache {

/// Appends `data` to `out` as one frame that states its content size. False, with `out` unchanged, where that would not
/// save an eighth.
[[nodiscard]] bool append_compressed(std::string& out, std::string_view data);

/// Replaces `out` by the content of the one frame in `data`, which must decode to exactly `size` bytes. Hostile input:
/// allocates `size` bytes and nothing more, and only if the frame itself states that size.
[[nodiscard]] bool decompress(std::string& out, std::string_view data, std::size_t size);

}  // namespace idem::cache
