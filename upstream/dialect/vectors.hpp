#pragma once
// Embeddings: which values are one, and as answers are compared by them, the bits of single-precision numbers, in which
// every encoding agrees. Any thread.
#include <simdjson.h>

#include <string>

namespace idem::upstream::dialect {

/// Whether a value is an embedding: a list that is not empty, of numbers or of such lists, or base64.
[[nodiscard]] bool holds_vector(simdjson::dom::element value);

/// A list of numbers, or its base64 as OpenAI's API writes it, as a string of hexadecimal bits; a list of such as a
/// list; anything else as it is.
void append_vectors(std::string& out, simdjson::dom::element value);

}  // namespace idem::upstream::dialect
