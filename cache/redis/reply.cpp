#include "cache/redis/reply.hpp"

#include <hiredis/read.h>

#include <cstring>
#include <new>
#include <utility>

namespace idem::cache::redis {

// redisReader calls these from C: no exception may leave them, and a null pointer means "out of memory" to it.
struct reply_parser::builder {
    [[nodiscard]] static reply_parser& self(const redisReadTask* task) noexcept {
        return *static_cast<reply_parser*>(task->privdata);
    }

    // Arrays are filled depth first, so the last element of an array is the only one that still grows and a pointer to
    // it stays good until its successor is added.
    [[nodiscard]] static reply* place(const redisReadTask* task) noexcept {
        if (task->parent == nullptr) {
            reply& root = self(task).root_;
            root = reply{};
            return &root;
        }
        try {
            return &static_cast<reply*>(task->parent->obj)->elements.emplace_back();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    static void* string(const redisReadTask* task, char* data, std::size_t size) noexcept {
        reply_parser& p = self(task);
        if (size > p.limits_.bytes) {
            p.over_limit_ = true;
            return nullptr;
        }
        reply* r = place(task);
        if (r == nullptr) {
            return nullptr;
        }
        r->type = task->type == REDIS_REPLY_ERROR    ? reply_type::error
                  : task->type == REDIS_REPLY_STATUS ? reply_type::status
                                                     : reply_type::string;
        try {
            r->text.assign(data, size);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        return r;
    }

    // Nothing is reserved for the announced elements: memory grows with the bytes that really come.
    static void* array(const redisReadTask* task, int elements) noexcept {
        reply_parser& p = self(task);
        p.elements_ += static_cast<std::size_t>(elements);
        if (p.elements_ > p.limits_.elements) {
            p.over_limit_ = true;
            return nullptr;
        }
        reply* r = place(task);
        if (r != nullptr) {
            r->type = reply_type::array;
        }
        return r;
    }

    static void* integer(const redisReadTask* task, long long value) noexcept {
        reply* r = place(task);
        if (r != nullptr) {
            r->type = reply_type::integer;
            r->integer = value;
        }
        return r;
    }

    static void* nil(const redisReadTask* task) noexcept { return place(task); }

    static void free(void*) noexcept {}  // all objects live inside root_

    static inline redisReplyObjectFunctions functions{&string, &array, &integer, &nil, &free};
};

void reply_parser::freer::operator()(redisReader* r) const noexcept {
    redisReaderFree(r);
}

reply_parser::reply_parser(reply_limits limits)
    : limits_(limits), reader_(redisReaderCreateWithFunctions(&builder::functions)) {
    if (!reader_) {
        throw std::bad_alloc();
    }
    reader_->privdata = this;
}

reply_parser::~reply_parser() = default;

void reply_parser::feed(std::string_view slice) noexcept {
    if (error_ != fault::none || slice.empty()) {
        return;
    }
    pending_ += slice.size();
    if (slice.size() > max_slice || redisReaderFeed(reader_.get(), slice.data(), slice.size()) != REDIS_OK) {
        error_ = fault::reply_too_large;
    }
}

// redisReader looks for the end of a line from its beginning at every call: a line without an end would cost time in
// the square of its length. An honest one is an error message or a number.
bool reply_parser::line_too_long() const noexcept {
    constexpr std::size_t longest_line = 16 * 1024, longest_number = 32;
    const redisReader& r = *reader_;
    const std::size_t rest = r.len - r.pos;
    const bool in_value = r.ridx >= 0 && r.rstack[r.ridx].type == REDIS_REPLY_STRING;
    if (!in_value) {
        return rest > longest_line;
    }
    return rest > longest_number && std::memchr(r.buf + r.pos, '\n', longest_number) == nullptr;
}

std::optional<reply> reply_parser::next() noexcept {
    if (error_ != fault::none) {
        return std::nullopt;
    }
    void* got = nullptr;
    if (redisReaderGetReply(reader_.get(), &got) != REDIS_OK) {
        error_ = over_limit_ || reader_->err == REDIS_ERR_OOM ? fault::reply_too_large : fault::malformed;
        return std::nullopt;
    }
    if (got == nullptr) {
        if (pending_ > limits_.bytes || line_too_long()) {
            error_ = fault::reply_too_large;
        }
        return std::nullopt;
    }
    elements_ = 0;
    pending_ = reader_->len - reader_->pos;
    return std::exchange(root_, reply{});
}

}  // namespace idem::cache::redis
