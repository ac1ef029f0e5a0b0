#include "gateway/config/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "gateway/config/syntax.hpp"

namespace idem::gateway::config {

std::string place::text() const {
    if (line == 0) return source;
    return source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

node* node::find(std::string_view key) noexcept {
    if (is != shape::mapping) return nullptr;
    const auto it = std::find_if(items.begin(), items.end(), [&](const node& n) { return n.name == key; });
    return it == items.end() ? nullptr : &*it;
}

const node* node::find(std::string_view key) const noexcept {
    return const_cast<node*>(this)->find(key);
}

namespace {

std::size_t count(const node& n) {
    std::size_t sum = 1;
    for (const auto& i : n.items) sum += count(i);
    return sum;
}

// Builds the tree from the parser's events: the only interface of yaml-cpp that gives the place of keys too.
class builder final : public YAML::EventHandler {
public:
    builder(std::string_view text, std::string name, std::vector<problem>& problems)
        : text_(text), name_(std::move(name)), problems_(problems) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, node::shape::null), anchor); }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto it = anchors_.find(anchor);
        if (it == anchors_.end()) {  // an alias to a collection that is still open
            problems_.push_back({where(mark), "an alias inside its own anchor"});
            add(make(mark, node::shape::null), 0);
            return;
        }
        // Copies may contain copies: without the cap nine short lines make a billion nodes.
        total_ += count(it->second);
        if (total_ > node_cap) throw YAML::ParserException(mark, "aliases expand to too many nodes");
        add(node(it->second), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (tag == "!") note_quoted(mark);
        node n = make(mark, node::shape::scalar);
        n.scalar = value;
        n.written = value;
        add(std::move(n), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open_.push_back({make(mark, node::shape::sequence), anchor, {}, {}, false});
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open_.push_back({make(mark, node::shape::mapping), anchor, {}, {}, false});
    }
    void OnMapEnd() override { close(); }

    node root;
    std::optional<quoted_text> last_quoted;

private:
    struct level {
        node is;
        YAML::anchor_t anchor;
        std::string key;
        place key_at;
        bool has_key;
    };

    place where(const YAML::Mark& mark) const { return {name_, mark.line + 1, mark.column + 1}; }

    // yaml-cpp takes the end of the file for a closing quote.
    void note_quoted(const YAML::Mark& mark) {
        const auto begin = static_cast<std::size_t>(mark.pos);
        if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return;  // a block scalar
        const std::size_t end = end_of_quoted(text_, begin);
        if (end == std::string_view::npos)
            throw YAML::ParserException(mark, "the quote that opens here is never closed");
        last_quoted = {where(mark), begin, end};
    }

    node make(const YAML::Mark& mark, node::shape is) {
        node n;
        n.is = is;
        n.at = where(mark);
        if (++total_ > node_cap) throw YAML::ParserException(mark, "too many nodes");
        return n;
    }

    void close() {
        level top = std::move(open_.back());
        open_.pop_back();
        add(std::move(top.is), top.anchor);
    }

    void add(node n, YAML::anchor_t anchor) {
        if (anchor != 0) anchors_[anchor] = n;
        if (open_.empty()) {
            root = std::move(n);
            return;
        }
        level& top = open_.back();
        if (top.is.is == node::shape::sequence) {
            top.is.items.push_back(std::move(n));
        } else if (!top.has_key) {
            if (n.is != node::shape::scalar) problems_.push_back({n.at, "a key must be a plain word"});
            top.key = n.scalar;
            top.key_at = n.at;
            top.has_key = true;
        } else {
            top.has_key = false;
            if (const node* first = top.is.find(top.key)) {
                problems_.push_back({top.key_at, top.key +
                                                     ": this key stands twice in one mapping; the first is at line " +
                                                     std::to_string(first->at.line) + "; remove one"});
                return;
            }
            // A value without a text of its own (null) is best found at its key.
            if (n.is == node::shape::null || n.is == node::shape::mapping) n.at = top.key_at;
            n.name = std::move(top.key);
            top.is.items.push_back(std::move(n));
        }
    }

    std::string_view text_;
    std::string name_;
    std::vector<problem>& problems_;
    std::vector<level> open_;
    std::map<YAML::anchor_t, node> anchors_;
    std::size_t total_ = 0;
};

}  // namespace

node parse_yaml(const std::string& text, const std::string& name, std::vector<problem>& problems) {
    // The parser skips a byte order mark and does not count it.
    const std::string_view counted = std::string_view(text).substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    builder b(counted, name, problems);
    try {
        std::istringstream in(text);
        YAML::Parser parser(in);
        parser.HandleNextDocument(b);
        builder rest(counted, name, problems);
        if (parser.HandleNextDocument(rest))
            problems.push_back({rest.root.at, "a second document; one file holds one"});
    } catch (const YAML::Exception& e) {
        problems.push_back(explain_syntax(counted, {{name, e.mark.line + 1, e.mark.column + 1}, e.msg}, b.last_quoted));
    }
    if (b.root.is == node::shape::null) {
        b.root.is = node::shape::mapping;
        b.root.at = {name, 1, 1};
    } else if (b.root.is != node::shape::mapping) {
        problems.push_back({b.root.at, "expected a mapping of keys such as `listen:` at the top"});
        b.root = {};
        b.root.is = node::shape::mapping;
    }
    return std::move(b.root);
}

}  // namespace idem::gateway::config
