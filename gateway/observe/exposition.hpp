#pragma once
// A writer of the Prometheus text format 0.0.4 and of OpenMetrics 1.0 (which drops `_total` from a counter's family
// name and ends in `# EOF`). Pure.
#include <cstdint>
#include <string>
#include <string_view>

namespace idem::gateway::observe {

class exposition {
public:
    explicit exposition(bool open_metrics) : open_metrics_(open_metrics) {}

    /// HELP and TYPE of a family; `type`: counter, gauge, histogram. A second call with the same name writes nothing.
    void open(std::string_view name, std::string_view help, std::string_view type);
    /// `labels`: `a="x",b="y"`, already escaped; may be empty.
    void sample(std::string_view name, std::string_view labels, double v);
    void sample(std::string_view name, std::string_view labels, std::uint64_t v);
    [[nodiscard]] std::string finish();

    /// `name="value"` with the value escaped.
    [[nodiscard]] static std::string label(std::string_view name, std::string_view text);
    /// Shortest form that reads back the same.
    static void append(std::string& out, double v);

private:
    void begin(std::string_view name, std::string_view labels);

    std::string out_, open_;
    bool open_metrics_;
};

}  // namespace idem::gateway::observe
