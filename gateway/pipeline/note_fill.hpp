#pragma once
// A fill and the ledger: what is written down of a good answer, whether it will be stored or not.
#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/services.hpp"

namespace idem::gateway::pipeline {

/// Pure: what the ledger is told of `answer`, which is the answer to `order`.
[[nodiscard]] cache::ledger_record ledger_record_of(const asked& order, const cache::entry& answer);

/// Returns at once; a task of the thread writes the record, counts what came of it and how the answer stands to earlier
/// ones. With too many of those under way the record is dropped and counted. Nothing where there is no ledger.
void note_fill(services& at, const asked& order, const cache::entry& answer);

}  // namespace idem::gateway::pipeline
