#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "gateway/cli/parse.hpp"
#include "gateway/cli/perform.hpp"

int main(int argc, char** argv) {
    try {
        return idem::gateway::cli::perform(idem::gateway::cli::parse(std::vector<std::string>(argv + 1, argv + argc)));
    } catch (const std::exception& e) {
        std::cerr << "idem: " << e.what() << "\n";
        return 1;
    }
}
