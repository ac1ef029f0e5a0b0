#pragma once
// Writes chosen members of a parsed answer into a JSON text, in an order of the writer's. What is null, "" or [] is
// left out: a stream cannot tell it from what is absent. Any thread.
#include <simdjson.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace idem::upstream::dialect {

/// A member that is an object.
[[nodiscard]] bool object_of(simdjson::dom::object from, std::string_view key, simdjson::dom::object& out);
/// Writes `"name":`, with a comma unless it follows `{`.
void begin_member(std::string& out, std::string_view name);
void append_value(std::string& out, simdjson::dom::element value);
/// Writes the first of `keys` that says something under `name`.
void copy(std::string& out, simdjson::dom::object from, std::string_view name,
          std::initializer_list<std::string_view> keys);

}  // namespace idem::upstream::dialect
