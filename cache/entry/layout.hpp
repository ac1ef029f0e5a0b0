#pragma once
// The bytes of an encoded entry, format 2. All integers little-endian. Changing anything here is a new entry_format.
//
//   offset  size
//        0     4  magic "IDEM"
//        4     2  format
//        6     2  flags: bit 0 body is one zstd frame (RFC 8878), bit 1 what follows is sealed (sealed.hpp); the rest
//        zero 8    32  key
//       40    16  fill id
//       56    16  ban id
//       72     8  created, Unix milliseconds
//       80     8  fresh_until
//       88     8  keep_until
//       96     4  length of the variable head
//      100     4  zero
//      104     8  length of the body as stored
//      112     8  length of the body when decoded
//      120        variable head, then the body as stored
//     last     8  XXH3-64 of everything before it
//
// The first 96 bytes keep their meaning in every later format, so that an older gateway can tell whose entry it is and
// leave it alone. A reader that meets a flag it does not know treats the entry like one of a newer format.
//
// Variable head: request digest 32, canonical size 8, epoch 16, environment 32, output digest 32, form 1
// (dialect::form), marks 1 (bit 0 length-limited, bit 1 token counts present, bit 2 usage event present), upstream
// milliseconds 4, input tokens 8, output tokens 8, usage event offset 8 and size 8, then the texts (length 4 and bytes)
// dialect, model, upstream, replica, route, scope tag, content type, origin request id, then a count 4 and the tags,
// then a count 4 and the headers as name and value, then the guarantee: level 1, isolation 1, runs 4. It ends exactly
// where its length says. Format 1, which is still read, had no guarantee.
//
// The checksum finds accidents. It proves nothing about who wrote the bytes, and XXH3 collisions can be made by hand,
// so the key is embedded and compared in full.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace idem::cache::layout {

inline constexpr std::string_view magic = "IDEM";
inline constexpr std::size_t at_format = 4, at_flags = 6, at_key = 8, at_fill = 40, at_ban = 56, at_created = 72,
                             at_fresh_until = 80, at_keep_until = 88, at_head_size = 96, at_zero = 100,
                             at_stored_size = 104, at_body_size = 112, fixed_size = 120;
inline constexpr std::size_t stable_size = 96;  // what every format shares
inline constexpr std::size_t checksum_size = 8;

inline constexpr std::uint16_t flag_zstd = 1, flag_sealed = 2;  // flag_sealed: see sealed.hpp

inline constexpr std::uint8_t mark_length_limited = 1, mark_tokens = 2, mark_usage_event = 4;

/// Names, tags and headers of an honest entry take a few hundred bytes.
inline constexpr std::size_t head_cap = 256 * 1024;

}  // namespace idem::cache::layout
