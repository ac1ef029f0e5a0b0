#include "gateway/config/credential.hpp"

namespace idem::gateway::config {

upstream::client::credential_settings credential_of(const upstream_pool& u) {
    if (u.bearer || !u.bearer_file.empty()) return {"Authorization", "Bearer ", u.bearer.value_or(""), u.bearer_file};
    return {u.credential_header, "", u.credential_value.value_or(""), u.credential_file};
}

}  // namespace idem::gateway::config
