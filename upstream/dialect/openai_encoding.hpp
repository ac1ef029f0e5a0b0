#pragma once
// The two encodings of OpenAI's embeddings: a vector is a list of numbers, or the base64 of their little-endian single
// precision. One answer serves both, since either can be made of the other. Sans-I/O, any thread.
//
// A vector is rendered only where both say the same: base64 becomes the shortest decimals that read back as the same
// single; a number becomes a single only if it is one, written exactly (as the double of its value) or shortest.
#include <optional>
#include <string>
#include <string_view>

#include "upstream/dialect/dialect.hpp"

namespace idem::upstream::dialect::openai {

/// The form that `encoding_format` of this request asks for; nullopt if it asks for more than a form: int8 and the
/// like, or base64 of other types than single precision (`output_dtype`, `embed_dtype`, `endianness`, …). Then it is a
/// field like others.
[[nodiscard]] std::optional<form> vector_form(std::string_view body);
/// The canonical body without an `encoding_format` that is form alone; nullopt if there is none.
[[nodiscard]] std::optional<std::string> without_vector_form(std::string_view canonical);

/// An answer with its vectors as lists of numbers, or as base64; all other bytes, and vectors that are so already,
/// stay. nullopt if it is not JSON, holds no vector, a vector of anything else, or a number that the other encoding
/// cannot say.
[[nodiscard]] std::optional<std::string> vectors_as_numbers(std::string_view answer);
[[nodiscard]] std::optional<std::string> vectors_as_base64(std::string_view answer);

}  // namespace idem::upstream::dialect::openai
