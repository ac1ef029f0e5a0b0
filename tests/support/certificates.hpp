#pragma once
// A certificate authority for one test: made with fresh keys, written as PEM into a directory of its own.
#include <string>

#include "tests/support/temp_dir.hpp"

namespace idem::test {

class certificates {
public:
    certificates();

    std::string ca_file;
    /// For localhost, 127.0.0.1 and ::1.
    std::string server_certificate, server_key;
    /// Signed by the same authority, for another name.
    std::string stranger_certificate, stranger_key;
    std::string client_certificate, client_key;

private:
    temp_dir folder_;
};

}  // namespace idem::test
