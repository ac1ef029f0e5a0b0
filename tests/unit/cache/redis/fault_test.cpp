#include "cache/redis/fault.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace idem::cache::redis;

TEST_CASE("every fault has its own word and an explanation") {
    std::set<std::string_view> words;
    for (int i = 1; i < static_cast<int>(fault::count_); ++i) {
        const auto f = static_cast<fault>(i);
        CAPTURE(i);
        CHECK_FALSE(to_string(f).empty());
        CHECK_FALSE(explain(f).empty());
        CHECK(words.insert(to_string(f)).second);
        CHECK(idem::cache::redis::reason_of(f) != idem::reason::none);
    }
    CHECK(to_string(fault::other_error) == "other_error");
    CHECK(to_string(fault::syntax_error) == "syntax_error");
    CHECK(to_string(fault::wrongpass) == "wrongpass");
}

TEST_CASE("error replies are named by their first word") {
    CHECK(classify("LOADING Redis is loading the dataset in memory") == fault::loading);
    CHECK(classify("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.") ==
          fault::masterdown);
    CHECK(classify("BUSY Redis is busy running a script.") == fault::busy);
    CHECK(classify("NOAUTH Authentication required.") == fault::noauth);
    CHECK(classify("WRONGPASS invalid username-password pair or user is disabled.") == fault::wrongpass);
    CHECK(classify("NOPERM this user has no permissions to run the 'get' command") == fault::noperm);
    CHECK(classify("READONLY You can't write against a read only replica.") == fault::readonly);
    CHECK(classify("OOM command not allowed when used memory > 'maxmemory'.") == fault::oom);
    CHECK(classify("MISCONF Redis is configured to save RDB snapshots") == fault::misconf);
    CHECK(classify("NOREPLICAS Not enough good replicas to write.") == fault::noreplicas);
    CHECK(classify("WRONGTYPE Operation against a key holding the wrong kind of value") == fault::wrongtype);
    CHECK(classify("EXECABORT Transaction discarded because of previous errors.") == fault::execabort);
    CHECK(classify("NOSCRIPT No matching script. Please use EVAL.") == fault::noscript);
    CHECK(classify("UNBLOCKED client unblocked via CLIENT UNBLOCK") == fault::unblocked);
    CHECK(classify("MOVED 3999 127.0.0.1:6381") == fault::moved);
    CHECK(classify("ASK 3999 127.0.0.1:6381") == fault::ask);
    CHECK(classify("TRYAGAIN Multiple keys request during rehashing of slot") == fault::tryagain);
    CHECK(classify("CLUSTERDOWN The cluster is down") == fault::clusterdown);
    CHECK(classify("CROSSSLOT Keys in request don't hash to the same slot") == fault::crossslot);
    CHECK(classify("ERR syntax error") == fault::syntax_error);
    CHECK(classify("ERR unknown command 'UNLINK', with args beginning with: ") == fault::unknown_command);
    CHECK(classify("ERR AUTH <password> called without any password configured for the default user.") ==
          fault::wrongpass);
    CHECK(classify("ERR something new") == fault::other_error);
    CHECK(classify("NEWCODE something new") == fault::other_error);
    CHECK(classify("") == fault::other_error);
    CHECK(classify("MOVEDX 1") == fault::other_error);
}

TEST_CASE("an error inside a script is named by the inner code") {
    CHECK(classify("ERR Error running script (call to f_2cfb): @user_script:3: -OOM command not allowed when used "
                   "memory > 'maxmemory'.") == fault::oom);
    CHECK(classify("ERR Error running script (call to f_2cfb): @user_script:3: Script attempted") ==
          fault::other_error);
    CHECK(classify("OOM command not allowed when used memory > 'maxmemory'. script: 2cfb, on @user_script:3.") ==
          fault::oom);
}

TEST_CASE("refused writes do not count as an outage") {
    for (const fault f : {fault::oom, fault::misconf, fault::readonly, fault::noreplicas}) {
        CHECK(refuses_writes(f));
        CHECK_FALSE(is_outage(f));
    }
    for (const fault f : {fault::timeout, fault::loading, fault::noauth, fault::moved, fault::malformed}) {
        CHECK(is_outage(f));
        CHECK_FALSE(refuses_writes(f));
    }
    CHECK_FALSE(is_outage(fault::noscript));
    CHECK_FALSE(is_outage(fault::syntax_error));
    CHECK_FALSE(is_outage(fault::shut_down));
}
