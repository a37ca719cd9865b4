// SPDX-License-Identifier: MIT
// Applications over the interface `rpc`: each request is a remote procedure call.
#ifndef CARRICK_RPC_H
#define CARRICK_RPC_H

#include "carrick-client.h"
#include "carrick-server.h"

namespace ns3 {

class CarrickRpcClient : public CarrickClient {
  public:
    static TypeId GetTypeId();

  private:
    void Open() override;
    void Begin(const CarrickPayload &request) override;
    void Close() override;
    void Receive(const CarrickPayload &request, uint64_t rpc);

    uint64_t m_endpoint = 0;
};

class CarrickRpcServer : public CarrickServer {
  public:
    static TypeId GetTypeId();

  private:
    void Open() override;
    void Close(uint64_t endpoint) override;
    void Accept(uint64_t endpoint);
    void Receive(uint64_t rpc);
    void Answer(uint64_t rpc, const std::vector<uint8_t> &bytes);
};

} // namespace ns3

#endif
