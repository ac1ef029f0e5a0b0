#include "cache/redis/command.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace idem::cache::redis {
namespace {

template <std::size_t N>
[[nodiscard]] std::span<const std::string_view> words(const std::array<std::string_view, N>& list) noexcept {
    return list;
}

[[nodiscard]] std::vector<std::string_view> script_words(std::string_view verb, std::string_view what,
                                                         std::string_view key,
                                                         std::span<const std::string_view> arguments) {
    std::vector<std::string_view> list{verb, what, "1", key};
    list.insert(list.end(), arguments.begin(), arguments.end());
    return list;
}

}  // namespace

void command::freer::operator()(char* p) const noexcept {
    redisFreeCommand(p);
}

command::command(std::span<const std::string_view> list, std::initializer_list<reply_type> answers) {
    constexpr std::size_t most = most_keys + 1;
    std::array<const char*, most> data;
    std::array<std::size_t, most> sizes;
    if (list.size() > most) {
        throw std::length_error("redis command with too many arguments");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        data[i] = list[i].data();
        sizes[i] = list[i].size();
    }
    char* out = nullptr;
    const int size = redisFormatCommandArgv(&out, static_cast<int>(list.size()), data.data(), sizes.data());
    if (size < 0) {
        throw std::bad_alloc();
    }
    bytes_.reset(out);
    size_ = static_cast<std::size_t>(size);
    for (const reply_type t : answers) {
        answers_.add(t);
    }
}

command command::auth(std::string_view user, std::string_view password) {
    const std::array<std::string_view, 3> both{"AUTH", user, password};
    const std::array<std::string_view, 2> one{"AUTH", password};
    return {user.empty() ? words(one) : words(both), {reply_type::status}};
}

command command::client_setname(std::string_view name) {
    const std::array<std::string_view, 3> list{"CLIENT", "SETNAME", name};
    return {list, {reply_type::status}};
}

command command::select(std::uint32_t database) {
    const std::string number = std::to_string(database);
    const std::array<std::string_view, 2> list{"SELECT", number};
    return {list, {reply_type::status}};
}

command command::ping(std::string_view nonce) {
    const std::array<std::string_view, 2> list{"PING", nonce};
    return {list, {reply_type::string}};
}

command command::get(std::string_view key) {
    const std::array<std::string_view, 2> list{"GET", key};
    return {list, {reply_type::string, reply_type::nil}};
}

command command::set_nx_get(std::string_view key, std::string_view value, std::int64_t ttl_ms) {
    const std::string ttl = std::to_string(ttl_ms);
    const std::array<std::string_view, 7> expiring{"SET", key, value, "NX", "GET", "PX", ttl};
    const std::array<std::string_view, 5> lasting{"SET", key, value, "NX", "GET"};
    return {ttl_ms == 0 ? words(lasting) : words(expiring), {reply_type::string, reply_type::nil}};
}

command command::mget(std::span<const std::string> keys) {
    std::vector<std::string_view> list{"MGET"};
    list.insert(list.end(), keys.begin(), keys.end());
    return {list, {reply_type::array}};
}

command command::scan(std::string_view cursor, std::string_view pattern, std::string_view about) {
    const std::array<std::string_view, 6> list{"SCAN", cursor, "MATCH", pattern, "COUNT", about};
    return {list, {reply_type::array}};
}

command command::unlink(std::string_view key) {
    const std::array<std::string_view, 2> list{"UNLINK", key};
    return {list, {reply_type::integer}};
}

command command::evalsha(std::string_view sha1, std::string_view key, std::span<const std::string_view> arguments) {
    return {script_words("EVALSHA", sha1, key, arguments), {reply_type::string, reply_type::nil}};
}

command command::eval(std::string_view source, std::string_view key, std::span<const std::string_view> arguments) {
    return {script_words("EVAL", source, key, arguments), {reply_type::string, reply_type::nil}};
}

}  // namespace idem::cache::redis
