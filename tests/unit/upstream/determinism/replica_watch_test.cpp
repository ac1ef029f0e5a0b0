#include "upstream/determinism/replica_watch.hpp"

#include <doctest/doctest.h>

using namespace idem;
using namespace idem::upstream::determinism;
namespace net = idem::upstream::net;
using namespace std::chrono_literals;

namespace {

const std::vector<golden_prompt> prompts = {{"a", "/v1/chat/completions", "{}"}, {"b", "/v1/chat/completions", "{}"}};

environment made_of(std::string version) {
    environment e;
    e.add({"engine_version", std::move(version), provenance::reported});
    return e;
}

attestation steady(std::string_view first, std::uint64_t tokens = 5) {
    return {attestation::result::steady, {{sha256(first), tokens}, {sha256("second"), 7}}, 3, {}};
}

reference reference_of(const attestation& a) {
    return {{}, {}, a.outputs, "majority"};
}

// A replica and its keeper, with a clock of its own.
struct scene {
    replica_watch watch{watch_settings{}};
    net::time_point now{1h};
    environment known = made_of("1.0");
    reference ref = reference_of(steady("first"));

    // Does what is due until it waits. Returns what was done.
    std::string run(const attestation& outputs, bool may_quarantine = true, const reference* with = nullptr,
                    bool reached = true) {
        std::string done;
        for (;;) {
            const auto due = watch.next(now);
            switch (due.what) {
                case replica_watch::step::wait:
                    CHECK(due.until > now);
                    return done;
                case replica_watch::step::check_health:
                    done += 'h';
                    watch.health(reached, true, "refused", now);
                    break;
                case replica_watch::step::read_facts:
                    done += 'f';
                    watch.facts(known, {}, now);
                    break;
                case replica_watch::step::attest:
                    done += 'a';
                    watch.attested(outputs, with ? with : &ref, prompts, may_quarantine, now);
                    break;
            }
            REQUIRE(done.size() < 20);
        }
    }
    void admit() {
        watch.epoch(known.id(), now);
        run(steady("first"));
        REQUIRE(watch.state() == replica_state::admitted);
    }
};

}  // namespace

TEST_CASE("a replica is admitted when it is healthy, in the epoch's environment, and repeats the reference") {
    scene s;
    CHECK(s.watch.state() == replica_state::probing);
    CHECK(s.run(steady("first")) == "hf");
    CHECK(s.watch.why() == cause::awaiting_epoch);
    s.watch.epoch(s.known.id(), s.now);
    CHECK(s.run(steady("first")) == "a");
    CHECK(s.watch.state() == replica_state::admitted);
    CHECK(s.watch.runs() == 3);
    s.now += 15min;
    CHECK(s.run(steady("first")) == "hfa");
    CHECK(s.watch.runs() == 6);
}

TEST_CASE("without a reference it waits for one, and is judged by it when it comes") {
    scene s;
    s.watch.epoch(s.known.id(), s.now);
    s.watch.health(true, true, {}, s.now);
    s.watch.facts(s.known, {}, s.now);
    REQUIRE(s.watch.next(s.now).what == replica_watch::step::attest);
    s.watch.attested(steady("first"), nullptr, prompts, true, s.now);
    CHECK(s.watch.state() == replica_state::probing);
    CHECK(s.watch.why() == cause::awaiting_reference);
    s.watch.judge(s.ref, prompts, true);
    CHECK(s.watch.state() == replica_state::admitted);
    CHECK(s.watch.runs() == 3);
    s.watch.judge(s.ref, prompts, true);
    CHECK(s.watch.runs() == 3);  // the same runs prove nothing twice
}

TEST_CASE("an output that is not the reference's quarantines it until an operator readmits it") {
    for (const auto& [outputs, why] : {std::pair{steady("other"), cause::output_differs},
                                       {steady("first", 6), cause::prompt_drift},
                                       {attestation{attestation::result::flipped, {}, 2, "x"}, cause::output_flipped},
                                       {attestation{attestation::result::drifted, {}, 2, "x"}, cause::prompt_drift}}) {
        scene s;
        s.admit();
        s.now += 15min;
        s.run(outputs);
        CHECK(s.watch.state() == replica_state::quarantined);
        CHECK(s.watch.why() == why);
        CHECK(!s.watch.detail().empty());
        CHECK(s.watch.runs() == 0);
        s.now += 24h;
        CHECK(s.run(steady("first")) == "hf");  // not by itself
        CHECK(s.watch.state() == replica_state::quarantined);
        s.watch.obey(replica_watch::order::readmit, s.now);
        CHECK(s.watch.state() == replica_state::probing);
        CHECK(s.run(steady("first")) == "hfa");
        CHECK(s.watch.state() == replica_state::admitted);
    }
}

TEST_CASE("answers that diverge put an admitted replica out until an operator readmits it, also after a restart") {
    scene s;
    s.admit();
    s.watch.diverged(true);
    CHECK(s.watch.state() == replica_state::quarantined);
    CHECK(s.watch.why() == cause::answers_diverged);
    s.now += 24h;
    s.run(steady("first"));
    CHECK(s.watch.state() == replica_state::quarantined);
    s.watch.obey(replica_watch::order::drain, s.now);
    s.watch.diverged(true);  // an operator's order stands
    CHECK(s.watch.state() == replica_state::draining);
    s.watch.obey(replica_watch::order::readmit, s.now);
    CHECK(s.run(steady("first")) == "hfa");
    CHECK(s.watch.state() == replica_state::admitted);
    s.watch.diverged(false);  // too few others
    CHECK(s.watch.state() == replica_state::admitted);
    CHECK(s.watch.diverging());
    scene later;
    later.watch.restore(replica_state::quarantined, cause::answers_diverged, "x");
    CHECK(later.watch.state() == replica_state::quarantined);
    CHECK(later.watch.held());
}

TEST_CASE("answers that diverge admit nobody, and hold nobody who is out already") {
    for (const bool may_quarantine : {false, true}) {
        CAPTURE(may_quarantine);
        scene s;
        s.admit();
        s.known = made_of("1.1");
        s.now += 24h;
        s.run(steady("first"));
        REQUIRE(s.watch.why() == cause::environment_changed);
        s.watch.diverged(may_quarantine);
        CHECK(s.watch.state() == replica_state::quarantined);
        CHECK(s.watch.why() == cause::environment_changed);
        CHECK_FALSE(s.watch.held());
    }
    scene s;
    s.admit();
    s.watch.suspected(s.now);
    REQUIRE(s.watch.state() == replica_state::probing);
    s.watch.diverged(false);
    CHECK(s.watch.state() == replica_state::probing);
    s.watch.diverged(true);
    CHECK(s.watch.why() == cause::answers_diverged);
}

TEST_CASE("where too many would be quarantined it goes on and is marked") {
    scene s;
    s.admit();
    s.now += 15min;
    s.run(steady("other"), false);
    CHECK(s.watch.state() == replica_state::admitted);
    CHECK(s.watch.diverging());
    CHECK(s.watch.runs() == 0);
    s.now += 15min;
    s.run(steady("first"), false);
    CHECK(!s.watch.diverging());
    CHECK(s.watch.runs() == 3);
}

TEST_CASE("changed facts quarantine it, and it comes back with them") {
    scene s;
    s.admit();
    s.known = made_of("1.1");
    s.now += 30s;
    CHECK(s.run(steady("first")) == "hf");
    CHECK(s.watch.state() == replica_state::quarantined);
    CHECK(s.watch.why() == cause::environment_changed);
    SUBCASE("the old facts are there again") {
        s.known = made_of("1.0");
        s.now += 30s;
        CHECK(s.run(steady("first")) == "hfa");
        CHECK(s.watch.state() == replica_state::admitted);
        CHECK(s.watch.runs() == 3);
    }
    SUBCASE("the epoch moves to the new ones") {
        s.watch.epoch(s.known.id(), s.now);
        CHECK(s.watch.state() == replica_state::probing);
        CHECK(s.run(steady("first")) == "a");
        CHECK(s.watch.state() == replica_state::admitted);
    }
}

TEST_CASE("a locked fact that is another, or that nobody tells, quarantines it with the fact's name") {
    for (const std::string found : {"2.0", ""}) {
        scene s;
        s.watch.epoch(s.known.id(), s.now);
        s.watch.health(true, true, {}, s.now);
        s.watch.facts(s.known, {{"engine_version", "1.0", found}}, s.now);
        CHECK(s.watch.state() == replica_state::quarantined);
        CHECK(s.watch.why() == cause::locked_fact_differs);
        CHECK(s.watch.detail().find("engine_version") != std::string::npos);
        CHECK(s.watch.next(s.now).what == replica_watch::step::wait);  // it is not put to work
    }
}

TEST_CASE("one that a request could not reach is attested again before it is admitted") {
    scene s;
    s.admit();
    s.watch.suspected(s.now);
    CHECK(s.watch.state() == replica_state::probing);
    CHECK(s.watch.why() == cause::suspect);
    CHECK(s.run(steady("first")) == "hfa");
    CHECK(s.watch.state() == replica_state::admitted);
    CHECK(s.watch.runs() == 3);
}

TEST_CASE("an admitted replica is down after several failed probes, and attested when it returns") {
    scene s;
    s.admit();
    int probes = 0;
    while (s.watch.state() == replica_state::admitted) {
        s.now += 5s;
        s.watch.health(false, false, "refused", s.now);
        ++probes;
    }
    CHECK(probes == 3);
    CHECK(s.watch.state() == replica_state::down);
    CHECK(s.watch.why() == cause::unreachable);
    s.now += 5s;
    CHECK(s.run(steady("first"), true, nullptr, false) == "h");
    s.now += 5s;
    CHECK(s.run(steady("first")) == "hfa");
    CHECK(s.watch.state() == replica_state::admitted);
}

TEST_CASE("a suspected replica that does not answer is down at the first probe") {
    scene s;
    s.admit();
    s.watch.suspected(s.now);
    s.watch.health(false, false, "refused", s.now);
    CHECK(s.watch.state() == replica_state::down);
}

TEST_CASE("an operator's order holds until readmission, whatever is measured") {
    for (const auto order : {replica_watch::order::quarantine, replica_watch::order::drain}) {
        scene s;
        s.admit();
        s.watch.obey(order, s.now);
        const auto state = s.watch.state();
        CHECK(s.watch.why() == cause::operator_order);
        s.now += 1h;
        s.run(steady("first"), true, nullptr, false);
        s.run(steady("first"));
        CHECK(s.watch.state() == state);
        s.watch.obey(replica_watch::order::readmit, s.now);
        s.run(steady("first"));
        CHECK(s.watch.state() == replica_state::admitted);
    }
}

TEST_CASE("a golden prompt without a usable answer proves nothing against a replica that is admitted") {
    scene s;
    s.admit();
    s.now += 15min;
    s.run({attestation::result::failed, {}, 0, "HTTP 503"});
    CHECK(s.watch.state() == replica_state::admitted);
    scene fresh;
    fresh.watch.epoch(fresh.known.id(), fresh.now);
    fresh.run({attestation::result::failed, {}, 0, "HTTP 503"});
    CHECK(fresh.watch.state() == replica_state::probing);
    CHECK(fresh.watch.why() == cause::attestation_failed);
    fresh.now += 30s;
    fresh.run(steady("first"));
    CHECK(fresh.watch.state() == replica_state::admitted);
}

TEST_CASE("where nothing is attested, facts alone admit, and prove nothing") {
    replica_watch w({.attests = false});
    const net::time_point now{1h};
    const environment e = made_of("1");
    w.epoch(e.id(), now);
    w.health(true, true, {}, now);
    w.facts(e, {}, now);
    CHECK(w.state() == replica_state::admitted);
    CHECK(w.runs() == 0);
}

TEST_CASE("an attestation that the replica's death ended says nothing new") {
    scene s;
    s.admit();
    for (int i = 0; i < 3; ++i) s.watch.health(false, false, "silent", s.now);
    REQUIRE(s.watch.state() == replica_state::down);
    s.watch.attested({attestation::result::failed, {}, 0, "no answer"}, &s.ref, prompts, true, s.now);
    CHECK(s.watch.state() == replica_state::down);
    CHECK(s.watch.why() == cause::unreachable);
    s.watch.attested(steady("first"), &s.ref, prompts, true, s.now);
    CHECK(s.watch.state() == replica_state::down);
}

TEST_CASE("who takes over goes on from what was found a moment ago, and looks for himself at once") {
    scene s;
    s.admit();
    condition found;
    found.state = replica_state::admitted;
    found.why = cause::none;
    found.runs = 9;
    found.facts = std::make_shared<const environment>(s.known);
    found.environment = s.known.id();
    replica_watch w({});
    w.succeed(found, s.ref.outputs, s.now);
    CHECK(w.state() == replica_state::admitted);
    CHECK(w.runs() == 9);
    w.epoch(s.known.id(), s.now);
    CHECK(w.state() == replica_state::admitted);
    CHECK(w.next(s.now).what == replica_watch::step::check_health);
    w.health(true, true, {}, s.now);
    CHECK(w.next(s.now).what == replica_watch::step::read_facts);
    w.facts(s.known, {}, s.now);
    CHECK(w.state() == replica_state::admitted);
    CHECK(w.next(s.now).what == replica_watch::step::wait);
    w.facts(made_of("2"), {}, s.now);
    CHECK(w.state() == replica_state::quarantined);
    // What the other one held is held.
    found.state = replica_state::quarantined;
    found.why = cause::output_differs;
    w.succeed(found, {}, s.now);
    CHECK(w.held());
    CHECK(w.state() == replica_state::quarantined);
    found.state = replica_state::down;
    found.why = cause::unreachable;
    w.succeed(found, {}, s.now);
    CHECK(w.state() == replica_state::probing);
}

TEST_CASE("what is written down is taken up only where it has to stay") {
    const auto restored = [](replica_state s, cause c) {
        replica_watch w({});
        w.restore(s, c, "d");
        return w.state();
    };
    CHECK(restored(replica_state::quarantined, cause::operator_order) == replica_state::quarantined);
    CHECK(restored(replica_state::draining, cause::operator_order) == replica_state::draining);
    CHECK(restored(replica_state::quarantined, cause::output_differs) == replica_state::quarantined);
    CHECK(restored(replica_state::quarantined, cause::environment_changed) == replica_state::probing);
    CHECK(restored(replica_state::admitted, cause::none) == replica_state::probing);
    CHECK(restored(replica_state::down, cause::unreachable) == replica_state::probing);
}

TEST_CASE("another fingerprint than the reference's is another server, until the epoch is another or it is back") {
    scene s;
    const auto printed = [](std::string print) {
        attestation a = steady("first");
        a.fingerprint = std::move(print);
        return a;
    };
    s.ref.fingerprint = "one";
    s.watch.epoch(s.known.id(), s.now, {{1}});
    s.run(printed("one"));
    REQUIRE(s.watch.state() == replica_state::admitted);
    s.watch.suspected(s.now);
    s.run(printed("two"));
    CHECK(s.watch.state() == replica_state::quarantined);
    CHECK(s.watch.why() == cause::environment_changed);
    CHECK(s.watch.detail().find("\"two\"") != std::string::npos);
    CHECK(s.watch.moved());
    CHECK(s.watch.runs() == 0);
    // It is not held, and does not go to and fro by its facts alone.
    s.now += 31s;
    s.run(printed("two"));
    CHECK(s.watch.state() == replica_state::quarantined);
    SUBCASE("the old one is back") {
        s.now += 15min;
        s.run(printed("one"));
        CHECK(s.watch.state() == replica_state::admitted);
        CHECK_FALSE(s.watch.moved());
    }
    SUBCASE("another epoch in the same environment has a reference of its own") {
        s.watch.epoch(s.known.id(), s.now, {{2}});
        CHECK(s.watch.state() == replica_state::probing);
        s.ref.fingerprint = "two";
        s.run(printed("two"));
        CHECK(s.watch.state() == replica_state::admitted);
    }
    SUBCASE("its facts have changed, too") {
        const environment other = made_of("2.0");
        s.watch.facts(other, {}, s.now);
        CHECK_FALSE(s.watch.moved());
        CHECK(s.watch.state() == replica_state::quarantined);
    }
    SUBCASE("where no fingerprint means anything it is not compared") {
        s.ref.fingerprint.clear();
        s.watch.obey(replica_watch::order::attest, s.now);
        s.run(printed("two"));
        CHECK(s.watch.state() == replica_state::admitted);
    }
}

TEST_CASE("an evaluation comes before admission and then when its time is due") {
    watch_settings settings;
    settings.evaluation_interval = 1h;
    settings.attest_interval = 10min;
    replica_watch watch(settings);
    net::time_point now{1h};
    const environment known = made_of("1.0");
    const reference ref = reference_of(steady("first"));
    const auto attest = [&](attestation::result what) {
        const auto due = watch.next(now);
        REQUIRE(due.what == replica_watch::step::attest);
        attestation a = steady("first");
        a.what = what;
        a.thorough = due.thorough;
        a.runs = due.thorough ? 30 : 3;
        watch.attested(a, &ref, prompts, true, now);
        return due.thorough;
    };
    const auto look = [&] {
        watch.health(true, true, {}, now);
        watch.facts(known, {}, now);
    };
    watch.epoch(known.id(), now);
    look();
    CHECK(attest(attestation::result::failed));
    CHECK(watch.state() == replica_state::probing);
    CHECK(watch.next(now).what == replica_watch::step::wait);  // not at once again
    now += 31s;
    look();
    CHECK(attest(attestation::result::steady));
    CHECK(watch.state() == replica_state::admitted);
    CHECK(watch.runs() == 30);
    now += 10min;
    look();
    CHECK_FALSE(attest(attestation::result::steady));
    CHECK(watch.runs() == 33);
    now += 49min;
    look();
    CHECK_FALSE(attest(attestation::result::steady));
    now += 2min;
    look();
    CHECK(attest(attestation::result::steady));
    CHECK(watch.runs() == 66);
    // Another environment has to earn it anew.
    const environment other = made_of("2.0");
    watch.health(true, true, {}, now);
    watch.facts(other, {}, now);
    watch.epoch(other.id(), now);
    CHECK(attest(attestation::result::flipped));
    CHECK(watch.state() == replica_state::quarantined);
    CHECK(watch.runs() == 0);
}
