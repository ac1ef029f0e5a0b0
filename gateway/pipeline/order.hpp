#pragma once
// What a fill is told to do, made of a prepared call by the caller that leads its flight.
#include <memory>
#include <string>

#include "gateway/pipeline/fill.hpp"
#include "gateway/pipeline/prepare.hpp"
#include "gateway/pipeline/services.hpp"
#include "upstream/http/message.hpp"

namespace idem::gateway::pipeline {

/// `body` is what goes upstream; `changed` says that it is not what the client sent.
[[nodiscard]] std::unique_ptr<fill_order> make_order(const services& at, const http::request_head& head,
                                                     const prepared& p, std::string body, bool changed);

}  // namespace idem::gateway::pipeline
