// SPDX-License-Identifier: MIT
#include "carrick-server.h"

#include "ns3/uinteger.h"

namespace ns3 {

TypeId CarrickServer::GetTypeId() {
    static TypeId type =
        TypeId("ns3::CarrickServer")
            .SetParent<CarrickApplication>()
            .SetGroupName("Carrick")
            .AddAttribute("Port", "Port at which clients find the server", UintegerValue(9),
                          MakeUintegerAccessor(&CarrickServer::m_port), MakeUintegerChecker<uint16_t>(1))
            .AddAttribute("MaxRequestSize", "Bytes of the longest request", UintegerValue(65536),
                          MakeUintegerAccessor(&CarrickServer::m_longest),
                          MakeUintegerChecker<uint32_t>(CarrickPayload::HEAD, INT32_MAX))
            .AddTraceSource("Request", "A request has arrived: number of the client, number of the request, bytes",
                            MakeTraceSourceAccessor(&CarrickServer::m_requestTrace),
                            "ns3::CarrickServer::RequestCallback")
            .AddTraceSource("Failure", "A request is not as it was sent, or is not answered: the reason",
                            MakeTraceSourceAccessor(&CarrickServer::m_failureTrace),
                            "ns3::CarrickServer::FailureCallback");
    return type;
}

void CarrickServer::StartApplication() {
    m_open = true;
    Open();
}

void CarrickServer::StopApplication() {
    m_open = false;
    Close(m_handle);
}

void CarrickServer::Opened(const carrick_completion &done) {
    if (done.status != CARRICK_OK) {
        Failed(std::string("cannot serve: ") + CarrickCall::Reason(done.status));
        return;
    }
    m_handle = done.value;
}

bool CarrickServer::Arrived(const std::vector<uint8_t> &bytes, CarrickPayload &request) {
    if (bytes.size() > m_longest) {
        Failed("longer than MaxRequestSize");
        return false;
    }
    if (!request.Read(bytes) || request.response) {
        Failed("contents differ from those that were sent");
        return false;
    }
    ++m_requests;
    m_requestTrace(request.client, request.number, request.size);
    return true;
}

CarrickApplication::Bytes CarrickServer::Response(const CarrickPayload &request) {
    CarrickPayload response = request;
    response.response = true;
    response.size = request.answer;
    return std::make_shared<std::vector<uint8_t>>(response.Bytes());
}

void CarrickServer::Failed(const std::string &reason) {
    ++m_failed;
    m_failureTrace(reason);
}

} // namespace ns3
