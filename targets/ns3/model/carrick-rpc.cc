// SPDX-License-Identifier: MIT
#include "carrick-rpc.h"

namespace ns3 {

TypeId CarrickRpcClient::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickRpcClient")
                             .SetParent<CarrickClient>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickRpcClient>();
    return type;
}

void CarrickRpcClient::Open() {
    Ask("open", 0, {{"local_ip", Protocol().GetAddress().Get()}, {"local_port", Protocol().NextPort()}}, {},
        [this](const carrick_completion &done) {
            m_endpoint = done.value;
            Opened(done.status);
        });
}

void CarrickRpcClient::Begin(const CarrickPayload &request) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>(request.Bytes());
    Ask("request", m_endpoint,
        {{"remote_ip", Remote().GetIpv4().Get()}, {"remote_port", Remote().GetPort()}, {"len", bytes->size()}}, {bytes},
        [this, request](const carrick_completion &done) {
            if (done.status == CARRICK_OK) {
                Receive(request, done.value);
            } else {
                Ended(request, done.status);
            }
        });
}

void CarrickRpcClient::Receive(const CarrickPayload &request, uint64_t rpc) {
    // One byte more than the response has, so that a longer one is seen.
    const auto bytes = std::make_shared<std::vector<uint8_t>>(request.answer + 1);
    Ask("recv_response", rpc, {{"len", bytes->size()}}, {bytes, true},
        [this, request, bytes](const carrick_completion &done) {
            if (done.status == CARRICK_OK) {
                bytes->resize(done.value);
                Answered(request, *bytes);
            } else {
                Failed(request.number, CarrickCall::Reason(done.status));
            }
        });
}

void CarrickRpcClient::Close() {
    Ask("close", m_endpoint, {}, {}, nullptr);
}

TypeId CarrickRpcServer::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickRpcServer")
                             .SetParent<CarrickServer>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickRpcServer>();
    return type;
}

void CarrickRpcServer::Open() {
    Ask("open", 0, {{"local_ip", Protocol().GetAddress().Get()}, {"local_port", Port()}}, {},
        [this](const carrick_completion &done) {
            Opened(done);
            if (done.status == CARRICK_OK) {
                Accept(done.value);
            }
        });
}

void CarrickRpcServer::Close(uint64_t endpoint) {
    Ask("close", endpoint, {}, {}, nullptr);
}

void CarrickRpcServer::Accept(uint64_t endpoint) {
    Ask("accept", endpoint, {}, {}, [this, endpoint](const carrick_completion &done) {
        if (done.status == CARRICK_OK) {
            Receive(done.value);
            Accept(endpoint);
        }
    });
}

void CarrickRpcServer::Receive(uint64_t rpc) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>(Longest() + 1);
    Ask("recv_request", rpc, {{"len", bytes->size()}}, {bytes, true},
        [this, rpc, bytes](const carrick_completion &done) {
            if (done.status == CARRICK_OK) {
                bytes->resize(done.value);
                Answer(rpc, *bytes);
            } else {
                Failed(CarrickCall::Reason(done.status));
            }
        });
}

void CarrickRpcServer::Answer(uint64_t rpc, const std::vector<uint8_t> &bytes) {
    CarrickPayload request;
    if (!Arrived(bytes, request)) {
        Ask("cancel", rpc, {}, {}, nullptr);
        return;
    }
    const Bytes response = Response(request);
    Ask("respond", rpc, {{"len", response->size()}}, {response}, [this](const carrick_completion &done) {
        if (done.status != CARRICK_OK) {
            Failed(CarrickCall::Reason(done.status));
        }
    });
}

} // namespace ns3
