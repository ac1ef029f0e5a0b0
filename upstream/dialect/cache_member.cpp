#include "upstream/dialect/cache_member.hpp"

#include "upstream/dialect/json_text.hpp"

namespace idem::upstream::dialect {

void read_cache_member(call& c, std::string_view key, std::string_view value) {
    if (value != "null" && key_is(key, cache_member.substr(1))) c.cache_control = value;
}

}  // namespace idem::upstream::dialect
