// SPDX-License-Identifier: MIT
#include "carrick-call.h"

#include <cstring>
#include <iterator>

namespace ns3 {

CarrickCall::CarrickCall(const carrick_program &program, const char *name) {
    for (uint32_t i = 0; i < program.call_count; ++i) {
        if (std::strcmp(program.calls[i].name, name) == 0) {
            m_info = &program.calls[i];
            m_number = i;
        }
    }
}

carrick_request CarrickCall::Request(uint64_t handle, Args args) const {
    carrick_request request = {};
    request.handle = handle;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m_info->field_count; ++i) {
        const carrick_field_info &field = m_info->fields[i];
        if (field.kind == CARRICK_FIELD_ADDR) {
            continue;
        }
        for (const auto &[name, value] : args) {
            if (std::strcmp(name, field.name) == 0) {
                request.args[at] = value;
            }
        }
        ++at;
    }
    return request;
}

uint64_t CarrickCall::Make(CarrickCore &core, const carrick_request &request, CarrickCore::Done done) const {
    return core.Call(m_number, request, std::move(done));
}

const char *CarrickCall::Reason(uint8_t status) {
    static const char *const reasons[] = {"ok",      "end of stream", "refused", "reset",       "timed out", "closed",
                                          "no room", "in use",        "invalid", "unreachable", "busy",      "aborted"};
    return status < std::size(reasons) ? reasons[status] : "unknown";
}

} // namespace ns3
