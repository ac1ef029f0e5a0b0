// The simulated engine over real sockets.
#include "upstream/simulate/server.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "upstream/http/message.hpp"
#include "upstream/net/net.hpp"

using namespace idem::upstream;
using namespace idem::upstream::simulate;
namespace json = boost::json;

namespace {

simulate_options on_free_port() {
    simulate_options o;
    o.port = 0;
    return o;
}

struct received {
    unsigned status = 0;
    std::string body;
    bool complete = false;
    bool closed = false;
};

// A client with one connection; a read that takes longer than 20 s fails.
class client {
public:
    explicit client(const simulator& engine) {
        socket_.connect({net::asio::ip::make_address("127.0.0.1"), engine.port()});
    }

    void send(std::string_view bytes) { net::asio::write(socket_, net::asio::buffer(bytes)); }

    received post(std::string_view path, std::string_view body) {
        send("POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + std::string(body));
        return read();
    }

    received get(std::string_view path) {
        send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
        return read();
    }

    received read() {
        http::response_parser parser;
        received out;
        for (;;) {
            const http::parsed p = parser.next(in_);
            in_.erase(0, p.body.empty() ? p.consumed : 0);
            if (p.event == http::parse_event::head) out.status = parser.head().status;
            if (p.event == http::parse_event::body) {
                out.body.append(p.body);
                in_.erase(0, p.consumed);
            }
            if (p.event == http::parse_event::head && out.status == 100) parser.reset();
            if (p.event == http::parse_event::complete || p.event == http::parse_event::error) {
                out.complete = p.event == http::parse_event::complete;
                return out;
            }
            if (p.event != http::parse_event::need_more) continue;
            char chunk[4096];
            boost::system::error_code ec;
            std::size_t n = 0;
            pollfd waiting{socket_.native_handle(), POLLIN, 0};
            if (::poll(&waiting, 1, 20000) == 1) {
                n = socket_.read_some(net::asio::buffer(chunk), ec);
            } else {
                ec = net::asio::error::timed_out;
            }
            if (ec) {
                out.closed = ec != net::asio::error::timed_out;
                out.complete = parser.finish().event == http::parse_event::complete;
                return out;
            }
            in_.append(chunk, n);
        }
    }

    void close() { socket_.close(); }

private:
    net::asio::io_context context_;
    net::asio::ip::tcp::socket socket_{context_};
    std::string in_;
};

const std::string request = R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0})";
const std::string streaming =
    R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0,"stream":true})";

template <class Condition>
bool eventually(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
        if (condition()) return true;
        std::this_thread::yield();
    }
    return false;
}

}  // namespace

TEST_CASE("requests follow each other on one connection, and are counted") {
    simulator engine(on_free_port());
    REQUIRE_FALSE(engine.start());
    client c(engine);
    const received one = c.post("/v1/chat/completions", request);
    CHECK(one.status == 200);
    CHECK(one.complete);
    const received two = c.post("/v1/chat/completions", request);
    CHECK(json::parse(one.body).at("choices") == json::parse(two.body).at("choices"));
    const received stream = c.post("/v1/chat/completions", streaming);
    CHECK(stream.complete);
    CHECK(stream.body.ends_with("data: [DONE]\n\n"));
    CHECK(c.get("/v1/models?limit=1").status == 200);
    const json::value stats = json::parse(c.get("/simulate/stats").body);
    CHECK(stats.at("calls") == 3);
    CHECK(stats.at("paths").at("/v1/chat/completions") == 3);
    CHECK(stats.at("paths").at("/v1/models") == 1);
    CHECK(stats.at("concurrency").at("peak") == 1);
    CHECK(stats.at("concurrency").at("current") == 0);
    CHECK(engine.stats().calls == 3);
    CHECK(engine.url() == "http://127.0.0.1:" + std::to_string(engine.port()));
}

TEST_CASE("chunked and expected bodies are read, uploads of any size are counted") {
    simulator engine(on_free_port());
    REQUIRE_FALSE(engine.start());
    client c(engine);
    c.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    c.send("10\r\n" + request.substr(0, 16) + "\r\n");
    char size[16];
    std::snprintf(size, sizeof size, "%zx\r\n", request.size() - 16);
    c.send(size + request.substr(16) + "\r\n0\r\n\r\n");
    CHECK(c.read().status == 200);
    const std::string file(300000, 'x');
    const received upload = c.post("/v1/files", file);
    CHECK(json::parse(upload.body).at("bytes") == 300000);
    CHECK(c.get("/health").status == 200);
}

TEST_CASE("an answer is cut after every number of bytes") {
    simulate_options o = on_free_port();
    o.tokens = 2;
    for (const std::string& body : {request, streaming}) {
        simulator whole_engine(o);
        REQUIRE_FALSE(whole_engine.start());
        const std::size_t whole = client(whole_engine).post("/v1/chat/completions", body).body.size();
        for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, whole / 2, whole - 1, whole}) {
            simulate_options cutting = o;
            cutting.cut_after = cut;
            simulator engine(cutting);
            REQUIRE_FALSE(engine.start());
            client c(engine);
            const received r = c.post("/v1/chat/completions", body);
            CAPTURE(cut);
            CHECK(r.status == 200);
            CHECK(r.body.size() <= cut);
            CHECK(r.complete == (cut == whole && body == request));
            CHECK(eventually([&] { return engine.stats().cut == 1; }));
        }
    }
}

TEST_CASE("concurrency is seen, and a client that leaves is noticed while the answer is held back") {
    simulate_options o = on_free_port();
    o.latency = std::chrono::seconds(60);
    o.threads = 2;
    simulator engine(o);
    REQUIRE_FALSE(engine.start());
    client a(engine);
    client b(engine);
    for (client* c : {&a, &b}) {
        c->send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(request.size()) +
                "\r\n\r\n" + request);
    }
    CHECK(eventually([&] { return engine.stats().current == 2; }));
    CHECK(engine.stats().peak == 2);
    a.close();
    CHECK(eventually([&] { return engine.stats().current == 1; }));
    CHECK(engine.stats().abandoned == 1);
    engine.stop();  // with an answer still being held back
    CHECK(b.read().closed);
}

TEST_CASE("HTTP/1.0 gets its stream until the connection closes") {
    simulator engine(on_free_port());
    REQUIRE_FALSE(engine.start());
    client c(engine);
    c.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: " + std::to_string(streaming.size()) + "\r\n\r\n" +
           streaming);
    const received r = c.read();
    CHECK(r.closed);
    CHECK(r.body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("broken framing is answered once, then the connection closes") {
    simulator engine(on_free_port());
    REQUIRE_FALSE(engine.start());
    client c(engine);
    c.send("NONSENSE\r\n\r\n");
    CHECK(c.read().status == 400);
    CHECK(c.read().closed);
}

TEST_CASE("an address in use is reported") {
    simulate_options o = on_free_port();
    o.address = "not an address";
    simulator engine(o);
    CHECK(engine.start());
}

TEST_CASE("an environment that changes under an answer shows where the engine sends its fingerprint last") {
    simulate_options o = on_free_port();
    o.engine = "vllm";
    o.tokens = 2;
    o.latency = std::chrono::seconds(1);
    simulator engine(o);
    REQUIRE_FALSE(engine.start());
    client other(engine);
    const auto mark_of_one = [&](const std::string& body) {
        client c(engine);
        c.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body);
        REQUIRE(eventually([&] { return engine.stats().current == 1; }));
        CHECK(other.post("/simulate/environment", "").status == 200);
        const received got = c.read();
        CHECK(got.complete);
        return got.body;
    };
    CHECK(mark_of_one(request).find("\"vllm-0.33.0.post1-") != std::string::npos);
    const std::string stream = mark_of_one(streaming);
    CHECK(stream.find("\"vllm-0.33.0.post2-") != std::string::npos);
    CHECK(stream.find("\"vllm-0.33.0.post1-") == std::string::npos);
    CHECK(json::parse(other.get("/version").body).at("version") == "0.33.0.post2");
}

TEST_CASE("the environment changes by itself, and a slow start ends by itself") {
    simulate_options o = on_free_port();
    o.engine = "llamacpp";
    o.change_after = std::chrono::milliseconds(0);
    o.slow_start = std::chrono::hours(1);
    {
        simulator engine(o);
        REQUIRE_FALSE(engine.start());
        client c(engine);
        CHECK(c.get("/health").status == 503);
        CHECK(c.post("/v1/chat/completions", request).status == 503);
        CHECK(c.get("/simulate/stats").status == 200);
    }
    o.slow_start = std::chrono::milliseconds(50);
    simulator engine(o);
    REQUIRE_FALSE(engine.start());
    client c(engine);
    CHECK(eventually([&] { return c.get("/health").status == 200; }));
    CHECK(json::parse(c.get("/props").body).at("build_info") == "b6890-4d2f1c3a.post1");
}

TEST_CASE("health checks and resets are counted, and checks that generate join the batch") {
    simulate_options o = on_free_port();
    o.engine = "sglang";
    o.prefix_cache = true;
    simulator engine(o);
    REQUIRE_FALSE(engine.start());
    client c(engine);
    CHECK(c.get("/health").status == 200);
    CHECK(c.get("/health_generate").status == 200);
    CHECK(engine.stats().calls == 2);
    const auto choices = [&] { return json::parse(c.post("/v1/chat/completions", request).body).at("choices"); };
    const json::value cold = choices();
    CHECK(choices() != cold);
    CHECK(c.post("/flush_cache", "").status == 200);
    CHECK(choices() == cold);
    const json::value stats = json::parse(c.get("/simulate/stats").body);
    CHECK(stats.at("health").at("probes") == 2);
    CHECK(stats.at("health").at("generated") == 2);
    CHECK(stats.at("resets") == 1);
}
