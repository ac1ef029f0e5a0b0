#include "gateway/cli/parse_cache.hpp"

#include <array>
#include <memory>

#include "gateway/cli/parse_parts.hpp"

namespace idem::gateway::cli {

namespace {

using what = cache_action::what;

struct cache_words {
    cache_action made;
    admin_words where;
};

CLI::App* add(CLI::App& cache, const char* name, const char* help, what which, std::shared_ptr<cache_words> w,
              action& out) {
    auto* c = add_command(cache, name, help);
    add_admin(*c, w->where);
    c->callback([w = std::move(w), &out, which] {
        cache_action a = w->made;
        a.which = which;
        a.where = w->where.flags();
        a.output = w->where.wanted();
        out = std::move(a);
    });
    return c;
}

// --key K, --tag T, …: exactly one of them.
void add_reach(CLI::App& c, std::shared_ptr<cache_words> w) {
    constexpr std::array<std::array<const char*, 3>, 7> kinds{
        {{"key", "KEY", "The entry of that key (Idem-Key)"},
         {"tag", "TAG", "Entries with that tag (Idem-Tags)"},
         {"model", "NAME", "Entries of that model, as requests name it"},
         {"route", "NAME", "Entries of that route"},
         {"upstream", "NAME", "Entries of that upstream"},
         {"scope", "ID", "Entries of that scope, as `idem cache get` shows it"},
         {"before", "TIME", "Entries from before a time (2026-11-30T12:00:00Z), or older than an age (30d)"}}};
    auto* group = c.add_option_group("Which")->require_option(1);
    for (const auto& [name, type, help] : kinds) {
        group
            ->add_option_function<std::string>(
                std::string("--") + name,
                [w, kind = std::string(name)](const std::string& value) {
                    w->made.kind = kind;
                    w->made.value = value;
                },
                help)
            ->type_name(type);
    }
    group->add_flag_callback("--all", [w] { w->made.kind = "all"; }, "Everything");
    c.add_flag("--dry-run", w->made.dry_run, "Only count what it would reach");
}

void add_drift(CLI::App& cache, action& out) {
    auto* drift = add_command(cache, "drift", "Of how many prompts the answer changed between two epochs");
    const auto a = std::make_shared<drift_action>();
    const auto w = std::make_shared<admin_words>();
    drift->add_option("from", a->before, "Id of the earlier epoch (Idem-Epoch)")->type_name("EPOCH")->required();
    drift->add_option("to", a->after, "Id of the later one")->type_name("EPOCH")->required();
    add_admin(*drift, *w);
    drift->callback([a, w, &out] {
        a->where = w->flags();
        a->output = w->wanted();
        out = *a;
    });
}

void add_epochs(CLI::App& cache, action& out) {
    auto w = std::make_shared<cache_words>();
    auto* epochs = add(cache, "epochs", "Show the epochs of each upstream, or open a new one", what::epochs, w, out);
    epochs->add_option("--open", w->made.upstream, "Open a new epoch of that upstream: everything is computed anew")
        ->type_name("UPSTREAM");
    epochs->add_option("--reason", w->made.why, "Why, for who reads it later")->type_name("TEXT");
    epochs->add_option("--replica", w->made.replica, "Whose environment it has; else what most replicas have")
        ->type_name("ID");
    epochs->callback([w, &out] {
        cache_action a = w->made;
        a.which = a.upstream.empty() ? what::epochs : what::open_epoch;
        if (a.upstream.empty() && !(a.why.empty() && a.replica.empty()))
            throw CLI::ValidationError("--open", "names the upstream; --reason and --replica are of a new epoch");
        if (!a.upstream.empty() && a.why.empty())
            throw CLI::ValidationError("--reason", "says why a new epoch is opened");
        a.where = w->where.flags();
        a.output = w->where.wanted();
        out = std::move(a);
    });
    w = std::make_shared<cache_words>();
    auto* back = add(cache, "rollback", "Go back to an epoch that an upstream has had before", what::rollback, w, out);
    back->add_option("epoch", w->made.epoch, "Its id, as `idem cache epochs` shows it")->type_name("EPOCH")->required();
}

}  // namespace

void add_cache(CLI::App& app, action& out) {
    auto* cache = add_command(app, "cache", "Look into the store of a running gateway, purge, and go back");
    cache->require_subcommand(1);
    auto w = std::make_shared<cache_words>();
    add(*cache, "stats", "What the tiers hold, and what became of requests", what::stats, w, out);
    w = std::make_shared<cache_words>();
    auto* list = add(*cache, "list", "List stored answers", what::list, w, out);
    list->add_option("--model", w->made.model, "Of that model")->type_name("NAME");
    list->add_option("--tag", w->made.tag, "With that tag")->type_name("TAG");
    list->add_option("--route", w->made.route, "Of that route")->type_name("NAME");
    list->add_option("--limit", w->made.limit, "At most so many [100]")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000));
    w = std::make_shared<cache_words>();
    auto* get = add(*cache, "get", "Show what is known of a stored answer", what::get, w, out);
    get->add_option("key", w->made.key, "Its key (Idem-Key)")->type_name("KEY")->required();
    get->add_flag("--body", w->made.body, "The answer itself, as it was stored, and nothing else");
    w = std::make_shared<cache_words>();
    add_reach(*add(*cache, "purge", "Never serve again what is stored now", what::purge, w, out), w);
    w = std::make_shared<cache_words>();
    add_reach(*add(*cache, "erase", "Purge, and remove from the store, the memory and the files", what::erase, w, out),
              w);
    add_epochs(*cache, out);
    add_drift(*cache, out);
}

}  // namespace idem::gateway::cli
