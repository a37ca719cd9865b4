// SPDX-License-Identifier: MIT
// A server: checks the contents of each request and answers it. A class for each interface says how.
#ifndef CARRICK_SERVER_H
#define CARRICK_SERVER_H

#include "carrick-application.h"
#include "carrick-payload.h"
#include "ns3/traced-callback.h"

namespace ns3 {

class CarrickServer : public CarrickApplication {
  public:
    // Signatures of trace sources.
    typedef void (*RequestCallback)(uint32_t client, uint64_t number, uint32_t size);
    typedef void (*FailureCallback)(const std::string &reason);

    static TypeId GetTypeId();

    uint64_t GetRequests() const {
        return m_requests;
    }
    uint64_t GetFailed() const {
        return m_failed;
    }

  protected:
    // Begins to serve.
    virtual void Open() = 0;
    // Ends what Open began, which has this handle.
    virtual void Close(uint64_t handle) = 0;

    // The server has this handle, or cannot serve as the status says.
    void Opened(const carrick_completion &done);
    // A request has arrived. Returns whether its contents are right; `request` is then its head.
    bool Arrived(const std::vector<uint8_t> &bytes, CarrickPayload &request);
    // The response to a request.
    static Bytes Response(const CarrickPayload &request);
    void Failed(const std::string &reason);

    bool IsOpen() const {
        return m_open;
    }
    uint16_t Port() const {
        return m_port;
    }
    // The longest request, in bytes.
    uint32_t Longest() const {
        return m_longest;
    }

  private:
    void StartApplication() override;
    void StopApplication() override;

    uint16_t m_port = 0;
    uint32_t m_longest = 0;
    bool m_open = false;
    uint64_t m_handle = 0;
    uint64_t m_requests = 0, m_failed = 0;

    TracedCallback<uint32_t, uint64_t, uint32_t> m_requestTrace;
    TracedCallback<const std::string &> m_failureTrace;
};

} // namespace ns3

#endif
