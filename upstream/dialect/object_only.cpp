#include "upstream/dialect/object_only.hpp"

namespace idem::upstream::dialect {

verdict judged_object::judge_body(bool framing_complete) {
    verdict v;
    simdjson::dom::object answer;
    if (!framing_complete) {
        v.refuse = reason::framing_incomplete;
    } else if (parse().get(answer) != simdjson::SUCCESS) {
        v.refuse = reason::answer_malformed;
    } else {
        judge_(answer, call_, v);
    }
    return v;
}

}  // namespace idem::upstream::dialect
