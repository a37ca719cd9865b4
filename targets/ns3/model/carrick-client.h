// SPDX-License-Identifier: MIT
// A client: makes requests in a closed loop or at random times, and reports how long each takes. A class for each
// interface says how a request is made.
#ifndef CARRICK_CLIENT_H
#define CARRICK_CLIENT_H

#include <deque>
#include <map>

#include "carrick-application.h"
#include "carrick-payload.h"
#include "ns3/inet-socket-address.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

namespace ns3 {

class CarrickClient : public CarrickApplication {
  public:
    // Signatures of trace sources.
    typedef void (*RequestCallback)(uint64_t number, uint32_t size);
    typedef void (*CompletionCallback)(uint64_t number, uint32_t size, Time latency);
    typedef void (*FailureCallback)(uint64_t number, const std::string &reason);

    static TypeId GetTypeId();

    CarrickClient();

    uint64_t GetCompleted() const {
        return m_completed;
    }
    uint64_t GetFailed() const {
        return m_failed;
    }
    // Gives the random variables their streams from this one on. Returns how many it has.
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

    // Opens what requests need, and calls Opened.
    virtual void Open() = 0;
    // Begins a request, which ends with Completed, Refused or Failed.
    virtual void Begin(const CarrickPayload &request) = 0;
    // Closes what Open opened.
    virtual void Close() = 0;
    // The most requests that may be open.
    virtual uint32_t Most() const {
        return UINT32_MAX;
    }

    // The client can begin requests, or cannot as the status says.
    void Opened(uint8_t status);
    // A request has this response, which is checked.
    void Answered(const CarrickPayload &request, const std::vector<uint8_t> &response);
    // A request has all that it should have, of so many bytes.
    void Completed(uint32_t number, uint32_t size);
    // A request was not taken for want of space: it is tried again.
    void Refused(const CarrickPayload &request);
    // A request has ended without the response that it should have.
    void Failed(uint32_t number, const std::string &reason);
    // The program has refused a request, or has ended it, with this status.
    void Ended(const CarrickPayload &request, uint8_t status);

    const InetSocketAddress &Remote() const {
        return m_remote;
    }
    // Of this client, from 0 on; no other client has it.
    uint32_t Number() const {
        return m_number;
    }

  private:
    void StartApplication() override;
    void StopApplication() override;
    bool IsClosedLoop() const {
        return !m_interval;
    }
    void SetRemote(const Address &address);
    Address GetRemote() const;
    void Arrive();
    void Request();
    void Retry();
    void Fill();
    void Over(uint32_t number);
    uint32_t Draw(Ptr<RandomVariableStream> sizes) const;

    InetSocketAddress m_remote = InetSocketAddress(Ipv4Address::GetAny(), 0);
    Ptr<RandomVariableStream> m_requestSize, m_responseSize, m_interval;
    uint32_t m_outstanding = 0;
    uint64_t m_most = 0;
    const uint32_t m_number;

    bool m_open = false, m_stopped = false, m_closed = false;
    EventId m_retry, m_arrival;
    uint32_t m_next = 0;                 // number of the next request
    std::deque<CarrickPayload> m_queued; // requests that have not begun, or were refused
    std::map<uint32_t, Time> m_begun;    // when requests arrived that have not ended
    uint32_t m_active = 0;               // requests that are with the program
    uint64_t m_completed = 0, m_failed = 0;

    TracedCallback<uint64_t, uint32_t> m_requestTrace;
    TracedCallback<uint64_t, uint32_t, Time> m_completionTrace;
    TracedCallback<uint64_t, const std::string &> m_failureTrace;
};

} // namespace ns3

#endif
