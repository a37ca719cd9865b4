// SPDX-License-Identifier: MIT
// Makes sockets of a node's program: Socket::CreateSocket(node, "ns3::CarrickSocketFactory"), or the factory of one
// program, "ns3::Carrick...SocketFactory", on a node that has several.
#ifndef CARRICK_SOCKET_FACTORY_H
#define CARRICK_SOCKET_FACTORY_H

#include "carrick-protocol.h"
#include "ns3/socket-factory.h"

namespace ns3 {

class CarrickSocketFactory : public SocketFactory {
  public:
    static TypeId GetTypeId();

    void SetProtocol(Ptr<CarrickProtocol> protocol);
    Ptr<Socket> CreateSocket() override;

  protected:
    void DoDispose() override;

  private:
    Ptr<CarrickProtocol> m_protocol;
};

} // namespace ns3

#endif
