// SPDX-License-Identifier: MIT
#include "carrick-application.h"

#include <algorithm>

namespace ns3 {

namespace {

constexpr size_t RECEIVE_PART = 65536; // bytes of one receive

} // namespace

TypeId CarrickApplication::GetTypeId() {
    static TypeId type =
        TypeId("ns3::CarrickApplication")
            .SetParent<Application>()
            .SetGroupName("Carrick")
            .AddAttribute("Protocol", "Type of the program's protocol, on a node that has several programs",
                          TypeIdValue(CarrickProtocol::GetTypeId()), MakeTypeIdAccessor(&CarrickApplication::m_type),
                          MakeTypeIdChecker());
    return type;
}

void CarrickApplication::DoDispose() {
    m_protocol = nullptr;
    Application::DoDispose();
}

CarrickProtocol &CarrickApplication::Protocol() {
    if (!m_protocol) {
        m_protocol = GetNode()->GetObject<CarrickProtocol>(m_type);
        if (!m_protocol) {
            NS_FATAL_ERROR("carrick: node " << GetNode()->GetId() << " has no program of the type " << m_type.GetName()
                                            << ": call CarrickHelper::Install(node) before applications are installed");
        }
    }
    return *m_protocol;
}

bool CarrickApplication::Ask(const char *name, uint64_t handle, CarrickCall::Args args, const Data &data,
                             const Done &done) {
    const CarrickCall call(*Protocol().Program().plain, name);
    if (!call.Exists()) {
        return false;
    }
    carrick_request request = call.Request(handle, args);
    if (data.bytes) {
        request.data = {data.bytes->data() + data.from, data.bytes->size() - data.from, 0};
        request.writable = data.writable;
    }
    Ptr<CarrickApplication> self(this);
    const Bytes bytes = data.bytes;
    call.Make(Protocol().Core(), request, [self, bytes, done](const carrick_completion &completion) {
        if (done) {
            done(completion);
        }
    });
    return true;
}

void CarrickApplication::SendAll(uint64_t handle, const Bytes &bytes, const Ended &ended) {
    SendFrom(0, handle, bytes, ended);
}

void CarrickApplication::SendFrom(size_t from, uint64_t handle, const Bytes &bytes, const Ended &ended) {
    if (from == bytes->size()) {
        ended(CARRICK_OK);
        return;
    }
    Ask("send", handle, {{"len", bytes->size() - from}}, {bytes, false, from},
        [this, from, handle, bytes, ended](const carrick_completion &done) {
            if (done.status == CARRICK_OK) {
                SendFrom(from + done.value, handle, bytes, ended);
            } else {
                ended(done.status);
            }
        });
}

void CarrickApplication::ReceiveAll(uint64_t handle, const Bytes &bytes, size_t most, const Ended &ended) {
    const size_t from = bytes->size();
    if (from > most) {
        ended(CARRICK_OK);
        return;
    }
    bytes->resize(std::min(most + 1, from + RECEIVE_PART));
    Ask("recv", handle, {{"len", bytes->size() - from}}, {bytes, true, from},
        [this, from, most, handle, bytes, ended](const carrick_completion &done) {
            bytes->resize(from + (done.status == CARRICK_OK ? done.value : 0));
            if (done.status == CARRICK_OK) {
                ReceiveAll(handle, bytes, most, ended);
            } else {
                ended(done.status == CARRICK_END_OF_STREAM ? static_cast<uint8_t>(CARRICK_OK) : done.status);
            }
        });
}

} // namespace ns3
