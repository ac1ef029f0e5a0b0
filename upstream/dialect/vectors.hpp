#pragma once
// Embeddings as answers are compared by them: the bits of single-precision numbers, in which every encoding agrees.
// Any thread.
#include <simdjson.h>

#include <string>

namespace idem::upstream::dialect {

/// A list of numbers, or its base64 as OpenAI's API writes it, as a string of hexadecimal bits; a list of such as a
/// list; anything else as it is.
void append_vectors(std::string& out, simdjson::dom::element value);

}  // namespace idem::upstream::dialect
