// The floor: a bare epoll responder, one thread, that answers every request with the same chat completion and does
// nothing else: no routing, no log, no metrics. What a server cannot do with less CPU. It also plays the upstream of
// the others.
//   usage: bench_floor PORT [ANSWER_BYTES]
// A request whose body has "stream":true is answered with the same text as server-sent events, in one write.
#include <unordered_map>

#include "tests/bench/wire.hpp"

namespace {

using namespace bench;

std::string chat_completion(std::size_t bytes) {
    const std::string before =
        R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":")";
    const std::string after =
        R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"completion_tokens":200,"total_tokens":320}})";
    std::string text;
    while (before.size() + text.size() + after.size() < bytes) text += "lorem ipsum "[text.size() % 12];
    return before + text + after;
}

std::string object_answer(std::size_t bytes) {
    const std::string body = chat_completion(bytes);
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: req-1\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string stream_answer() {
    std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    const auto event = [&answer](const std::string& data) {
        const std::string text = "data: " + data + "\n\n";
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", text.size());
        answer += size + text + "\r\n";
    };
    const std::string head =
        R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"bench",)";
    for (int i = 0; i < 8; ++i)
        event(head +
              R"("choices":[{"index":0,"delta":{"role":"assistant","content":"lorem "},"finish_reason":null}]})");
    event(head + R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
    event(head + R"("choices":[],"usage":{"prompt_tokens":120,"completion_tokens":8,"total_tokens":128}})");
    event("[DONE]");
    return answer + "0\r\n\r\n";
}

struct connection {
    std::string in, out;
};

// Takes complete requests off `c.in` and appends their answers to `c.out`.
void answer_requests(connection& c, const std::string& object, const std::string& stream) {
    for (;;) {
        const std::size_t end = c.in.find("\r\n\r\n");
        if (end == std::string::npos) return;
        const std::string_view length = field(std::string_view(c.in).substr(0, end + 2), "content-length");
        const std::size_t body = length.empty() ? 0 : std::strtoull(std::string(length).c_str(), nullptr, 10);
        if (c.in.size() < end + 4 + body) return;
        const bool streaming =
            std::string_view(c.in).substr(end + 4, body).find("\"stream\":true") != std::string_view::npos;
        c.out += streaming ? stream : object;
        c.in.erase(0, end + 4 + body);
    }
}

// False when the connection is over.
bool serve(int fd, connection& c, const std::string& object, const std::string& stream) {
    char buffer[65536];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
    if (n > 0) c.in.append(buffer, static_cast<std::size_t>(n));
    answer_requests(c, object, stream);
    if (c.out.empty()) return true;
    const ssize_t sent = write(fd, c.out.data(), c.out.size());
    // The answers fit into a socket buffer; a client that lets it fill up is not one of ours.
    if (sent != static_cast<ssize_t>(c.out.size())) return false;
    c.out.clear();
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_floor PORT [ANSWER_BYTES]\n");
        return 2;
    }
    raise_file_limit();
    const std::string object = object_answer(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1300);
    const std::string stream = stream_answer();
    const int listener = listen_on(static_cast<std::uint16_t>(std::atoi(argv[1])));
    const int poll = epoll_create1(EPOLL_CLOEXEC);
    watch(poll, listener, EPOLLIN, static_cast<std::uint64_t>(listener));
    std::unordered_map<int, connection> connections;
    epoll_event events[256];
    for (;;) {
        const int n = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < n; ++i) {
            const int fd = static_cast<int>(events[i].data.u64);
            if (fd == listener) {
                for (int c = accept_from(listener); c >= 0; c = accept_from(listener)) {
                    connections.try_emplace(c);
                    watch(poll, c, EPOLLIN, static_cast<std::uint64_t>(c));
                }
            } else if (!serve(fd, connections[fd], object, stream)) {
                connections.erase(fd);
                close(fd);
            }
        }
    }
}
