// SPDX-License-Identifier: MIT
#include "carrick-multistream.h"

namespace ns3 {

namespace {

constexpr uint32_t BACKLOG = 128; // connections that wait to be accepted

} // namespace

TypeId CarrickMultistreamClient::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickMultistreamClient")
                             .SetParent<CarrickClient>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickMultistreamClient>();
    return type;
}

void CarrickMultistreamClient::Open() {
    Ask("connect", 0,
        {{"local_ip", Protocol().GetAddress().Get()},
         {"local_port", Protocol().NextPort()},
         {"remote_ip", Remote().GetIpv4().Get()},
         {"remote_port", Remote().GetPort()}},
        {}, [this](const carrick_completion &done) {
            m_connection = done.value;
            Opened(done.status);
        });
}

void CarrickMultistreamClient::Close() {
    Ask("close", m_connection, {}, {}, nullptr);
}

void CarrickMultistreamClient::Begin(const CarrickPayload &request) {
    Ask("open_stream", m_connection, {}, {}, [this, request](const carrick_completion &done) {
        if (done.status == CARRICK_OK) {
            Exchange(request, done.value);
        } else {
            Ended(request, done.status);
        }
    });
}

void CarrickMultistreamClient::Exchange(const CarrickPayload &request, uint64_t stream) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>(request.Bytes());
    SendAll(stream, bytes, [this, request, stream](uint8_t status) {
        if (status != CARRICK_OK) {
            GiveUp(request, stream, status);
            return;
        }
        Ask("shutdown", stream, {}, {}, nullptr);
        Receive(request, stream);
    });
}

void CarrickMultistreamClient::Receive(const CarrickPayload &request, uint64_t stream) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>();
    ReceiveAll(stream, bytes, request.answer, [this, request, stream, bytes](uint8_t status) {
        if (status == CARRICK_OK) {
            Answered(request, *bytes);
        } else {
            GiveUp(request, stream, status);
        }
    });
}

void CarrickMultistreamClient::GiveUp(const CarrickPayload &request, uint64_t stream, uint8_t status) {
    Ask("reset", stream, {}, {}, nullptr);
    Failed(request.number, CarrickCall::Reason(status));
}

TypeId CarrickMultistreamServer::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickMultistreamServer")
                             .SetParent<CarrickServer>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickMultistreamServer>();
    return type;
}

void CarrickMultistreamServer::Open() {
    Ask("listen", 0, {{"local_ip", Protocol().GetAddress().Get()}, {"local_port", Port()}, {"backlog", BACKLOG}}, {},
        [this](const carrick_completion &done) {
            Opened(done);
            if (done.status == CARRICK_OK) {
                Accept(done.value);
            }
        });
}

void CarrickMultistreamServer::Close(uint64_t listener) {
    Ask("unlisten", listener, {}, {}, nullptr);
    for (const uint64_t connection : m_connections) {
        Ask("close", connection, {}, {}, nullptr);
    }
}

void CarrickMultistreamServer::Accept(uint64_t listener) {
    Ask("accept", listener, {}, {}, [this, listener](const carrick_completion &done) {
        if (done.status != CARRICK_OK) {
            return;
        }
        if (IsOpen()) {
            m_connections.insert(done.value);
            AcceptStream(done.value);
            Accept(listener);
        } else {
            Ask("close", done.value, {}, {}, nullptr);
        }
    });
}

void CarrickMultistreamServer::AcceptStream(uint64_t connection) {
    Ask("accept_stream", connection, {}, {}, [this, connection](const carrick_completion &done) {
        if (done.status == CARRICK_OK) {
            Serve(done.value);
            AcceptStream(connection);
        } else {
            m_connections.erase(connection);
        }
    });
}

void CarrickMultistreamServer::Serve(uint64_t stream) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>();
    ReceiveAll(stream, bytes, Longest(), [this, stream, bytes](uint8_t status) {
        if (status == CARRICK_OK) {
            Answer(stream, *bytes);
        } else {
            Failed(CarrickCall::Reason(status));
        }
    });
}

void CarrickMultistreamServer::Answer(uint64_t stream, const std::vector<uint8_t> &bytes) {
    CarrickPayload request;
    if (!Arrived(bytes, request)) {
        Ask("reset", stream, {}, {}, nullptr);
        return;
    }
    SendAll(stream, Response(request), [this, stream](uint8_t status) {
        if (status == CARRICK_OK) {
            Ask("shutdown", stream, {}, {}, nullptr);
        } else {
            Failed(CarrickCall::Reason(status));
        }
    });
}

} // namespace ns3
