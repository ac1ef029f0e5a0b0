#include "cache/store/s3fifo.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace idem::cache {
namespace {

constexpr std::uint8_t most_uses = 3;
// The paper's share of small. It found 5 % to 20 % to differ little.
constexpr std::size_t small_share = 10;

std::uint64_t ghost_hash(const cache_key& key) noexcept {
    return std::hash<cache_key>{}(key);
}

}  // namespace

void s3fifo::queue::push(node* n) noexcept {
    n->older = newest;
    n->newer = nullptr;
    (newest != nullptr ? newest->newer : oldest) = n;
    newest = n;
    bytes += n->size;
}

void s3fifo::queue::remove(node* n) noexcept {
    (n->older != nullptr ? n->older->newer : oldest) = n->newer;
    (n->newer != nullptr ? n->newer->older : newest) = n->older;
    bytes -= n->size;
}

s3fifo::~s3fifo() {
    for (const auto& [key, n] : map_) delete n;
}

s3fifo::held* s3fifo::find(const cache_key& key) noexcept {
    const auto at = map_.find(key);
    if (at == map_.end()) return nullptr;
    node* const n = at->second;
    if (n->uses < most_uses) ++n->uses;
    return n;
}

void s3fifo::insert(held what) {
    auto owned = std::make_unique<node>();
    static_cast<held&>(*owned) = std::move(what);
    owned->in_main = ghosts_.contains(ghost_hash(owned->value->key));
    map_.emplace(owned->value->key, owned.get());
    node* const n = owned.release();
    (n->in_main ? main_ : small_).push(n);
}

s3fifo::held s3fifo::erase(const cache_key& key) {
    const auto at = map_.find(key);
    return at == map_.end() ? held{} : drop(at->second);
}

s3fifo::held s3fifo::evict() {
    const bool small_is_full = small_.bytes * small_share >= small_.bytes + main_.bytes;
    if (small_.oldest != nullptr && (small_is_full || main_.oldest == nullptr)) {
        held gone = evict_small();
        if (gone.value != nullptr) return gone;
    }
    return evict_main();
}

// Everything in small may deserve main; then there is nothing to let go here.
s3fifo::held s3fifo::evict_small() {
    while (node* const n = small_.oldest) {
        if (n->uses <= 1) {
            remember(n->value->key);
            return drop(n);
        }
        small_.remove(n);
        n->uses = 0;
        n->in_main = true;
        main_.push(n);
    }
    return {};
}

s3fifo::held s3fifo::evict_main() {
    while (node* const n = main_.oldest) {
        if (n->uses == 0) return drop(n);
        --n->uses;
        main_.remove(n);
        main_.push(n);
    }
    return {};
}

s3fifo::held s3fifo::drop(node* n) {
    const std::unique_ptr<node> owned(n);
    (n->in_main ? main_ : small_).remove(n);
    map_.erase(n->value->key);
    return {std::move(n->value), n->size, n->checked, n->confirmed};
}

void s3fifo::remember(const cache_key& key) {
    const std::uint64_t hash = ghost_hash(key);
    if (ghosts_.insert(hash).second) ghost_order_.push_back(hash);
    // As many ghosts as there are entries; a few more in a cache of a handful.
    const std::size_t most = std::max<std::size_t>(map_.size(), 64);
    while (ghost_order_.size() > most) {
        ghosts_.erase(ghost_order_.front());
        ghost_order_.pop_front();
    }
}

}  // namespace idem::cache
