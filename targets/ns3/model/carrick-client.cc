// SPDX-License-Identifier: MIT
#include "carrick-client.h"

#include <algorithm>

#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3 {

namespace {

const Time RETRY = MilliSeconds(1); // after a refusal or a failure, if no request completes before

uint32_t NextClient() {
    static uint32_t clients = 0;
    return clients++;
}

} // namespace

TypeId CarrickClient::GetTypeId() {
    static TypeId type =
        TypeId("ns3::CarrickClient")
            .SetParent<CarrickApplication>()
            .SetGroupName("Carrick")
            .AddAttribute("Remote", "Address and port of the server", AddressValue(),
                          MakeAddressAccessor(&CarrickClient::SetRemote, &CarrickClient::GetRemote),
                          MakeAddressChecker())
            .AddAttribute("RequestSize", "Random variable: bytes of a request, at least 16",
                          StringValue("ns3::ConstantRandomVariable[Constant=1000]"),
                          MakePointerAccessor(&CarrickClient::m_requestSize),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute("ResponseSize", "Random variable: bytes of a response, at least 16",
                          StringValue("ns3::ConstantRandomVariable[Constant=1000]"),
                          MakePointerAccessor(&CarrickClient::m_responseSize),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute("Interval",
                          "Random variable: seconds between two requests (exponential: a Poisson process); none: a "
                          "closed loop",
                          PointerValue(), MakePointerAccessor(&CarrickClient::m_interval),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute("Outstanding", "Open requests of a closed loop", UintegerValue(1),
                          MakeUintegerAccessor(&CarrickClient::m_outstanding), MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxRequests", "Requests to make; 0: no limit", UintegerValue(0),
                          MakeUintegerAccessor(&CarrickClient::m_most), MakeUintegerChecker<uint64_t>(0, UINT32_MAX))
            .AddTraceSource("Request", "A request begins: its number and its bytes",
                            MakeTraceSourceAccessor(&CarrickClient::m_requestTrace),
                            "ns3::CarrickClient::RequestCallback")
            .AddTraceSource("Completion",
                            "A request has its response: its number, the response's bytes, and the time since the "
                            "request was due",
                            MakeTraceSourceAccessor(&CarrickClient::m_completionTrace),
                            "ns3::CarrickClient::CompletionCallback")
            .AddTraceSource("Failure", "A request ends without its response: its number, the reason",
                            MakeTraceSourceAccessor(&CarrickClient::m_failureTrace),
                            "ns3::CarrickClient::FailureCallback");
    return type;
}

CarrickClient::CarrickClient() : m_number(NextClient()) {}

void CarrickClient::DoDispose() {
    m_arrival.Cancel();
    m_retry.Cancel();
    m_requestSize = m_responseSize = m_interval = nullptr;
    CarrickApplication::DoDispose();
}

int64_t CarrickClient::AssignStreams(int64_t stream) {
    const int64_t first = stream;
    for (const Ptr<RandomVariableStream> &variable : {m_requestSize, m_responseSize, m_interval}) {
        if (variable) {
            variable->SetStream(stream++);
        }
    }
    return stream - first;
}

void CarrickClient::SetRemote(const Address &address) {
    if (InetSocketAddress::IsMatchingType(address)) {
        m_remote = InetSocketAddress::ConvertFrom(address);
    } else if (!address.IsInvalid()) {
        NS_FATAL_ERROR("carrick: the attribute Remote of a client must be an InetSocketAddress: an IPv4 address and "
                       "a port");
    }
}

Address CarrickClient::GetRemote() const {
    return m_remote;
}

void CarrickClient::StartApplication() {
    if (m_remote.GetPort() == 0) {
        NS_FATAL_ERROR("carrick: a client on node " << GetNode()->GetId()
                                                    << " has no server: set its attribute Remote");
    }
    Open();
}

void CarrickClient::StopApplication() {
    m_stopped = true;
    m_arrival.Cancel();
    m_queued.clear();
    Fill();
}

void CarrickClient::Opened(uint8_t status) {
    if (status != CARRICK_OK) {
        m_stopped = m_closed = true;
        ++m_failed;
        m_failureTrace(m_next, CarrickCall::Reason(status));
        return;
    }
    m_open = true;
    if (IsClosedLoop()) {
        Fill();
    } else {
        Arrive();
    }
}

// An open loop: a request, and the time of the next one.
void CarrickClient::Arrive() {
    if (m_stopped || (m_most > 0 && m_next >= m_most)) {
        return;
    }
    m_arrival = Simulator::Schedule(Seconds(m_interval->GetValue()), [this] {
        Request();
        Fill();
        Arrive();
    });
}

uint32_t CarrickClient::Draw(Ptr<RandomVariableStream> sizes) const {
    const double most = INT32_MAX;
    return static_cast<uint32_t>(std::clamp<double>(sizes->GetValue(), CarrickPayload::HEAD, most));
}

// Queues the next request.
void CarrickClient::Request() {
    CarrickPayload request;
    request.client = m_number;
    request.number = m_next++;
    request.size = Draw(m_requestSize);
    request.answer = Draw(m_responseSize);
    m_begun[request.number] = Simulator::Now();
    m_queued.push_back(request);
    m_requestTrace(request.number, request.size);
}

// Begins what may be begun, and closes when there is nothing more.
void CarrickClient::Fill() {
    if (!m_open || m_closed || m_retry.IsRunning()) {
        return;
    }
    const bool limited = m_most > 0;
    while (IsClosedLoop() && !m_stopped && m_begun.size() < m_outstanding && !(limited && m_next >= m_most)) {
        Request();
    }
    while (!m_queued.empty() && m_active < Most() && !m_retry.IsRunning()) {
        const CarrickPayload request = m_queued.front();
        m_queued.pop_front();
        ++m_active;
        Begin(request);
    }
    if (m_active == 0 && m_queued.empty() && (m_stopped || (limited && m_next >= m_most))) {
        m_closed = true;
        Close();
    }
}

// Tries again later: at once, what was refused or has failed would be again.
void CarrickClient::Retry() {
    m_retry.Cancel();
    m_retry = Simulator::Schedule(RETRY, [this] {
        m_retry.Cancel();
        Fill();
    });
}

void CarrickClient::Over(uint32_t number) {
    m_begun.erase(number);
    --m_active;
}

void CarrickClient::Answered(const CarrickPayload &request, const std::vector<uint8_t> &response) {
    CarrickPayload right = request;
    right.response = true;
    right.size = request.answer;
    if (response == right.Bytes()) {
        Completed(request.number, request.answer);
    } else {
        Failed(request.number, "contents of the response differ from those that were sent");
    }
}

void CarrickClient::Completed(uint32_t number, uint32_t size) {
    const Time latency = Simulator::Now() - m_begun[number];
    Over(number);
    ++m_completed;
    m_retry.Cancel();
    // In an event of its own: observers may change attributes.
    Simulator::ScheduleNow(&CarrickClient::Fill, Ptr<CarrickClient>(this));
    m_completionTrace(number, size, latency);
}

void CarrickClient::Refused(const CarrickPayload &request) {
    --m_active;
    m_queued.push_front(request);
    Retry();
}

void CarrickClient::Failed(uint32_t number, const std::string &reason) {
    Over(number);
    ++m_failed;
    Retry();
    m_failureTrace(number, reason);
}

void CarrickClient::Ended(const CarrickPayload &request, uint8_t status) {
    if (IsFull(status) && !m_stopped) {
        Refused(request);
    } else {
        Failed(request.number, CarrickCall::Reason(status));
    }
}

} // namespace ns3
