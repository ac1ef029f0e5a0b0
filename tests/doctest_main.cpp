#include <csignal>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does: a peer that left is an error code
    return doctest::Context(argc, argv).run();
}
