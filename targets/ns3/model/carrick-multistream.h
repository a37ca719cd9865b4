// SPDX-License-Identifier: MIT
// Applications over the interface `multistream`: a client has one connection, and each request is a stream of it.
#ifndef CARRICK_MULTISTREAM_H
#define CARRICK_MULTISTREAM_H

#include <set>

#include "carrick-client.h"
#include "carrick-server.h"

namespace ns3 {

class CarrickMultistreamClient : public CarrickClient {
  public:
    static TypeId GetTypeId();

  private:
    void Open() override;
    void Begin(const CarrickPayload &request) override;
    void Close() override;
    void Exchange(const CarrickPayload &request, uint64_t stream);
    void Receive(const CarrickPayload &request, uint64_t stream);
    void GiveUp(const CarrickPayload &request, uint64_t stream, uint8_t status);

    uint64_t m_connection = 0;
};

class CarrickMultistreamServer : public CarrickServer {
  public:
    static TypeId GetTypeId();

  private:
    void Open() override;
    void Close(uint64_t listener) override;
    void Accept(uint64_t listener);
    void AcceptStream(uint64_t connection);
    void Serve(uint64_t stream);
    void Answer(uint64_t stream, const std::vector<uint8_t> &bytes);

    std::set<uint64_t> m_connections;
};

} // namespace ns3

#endif
