// SPDX-License-Identifier: MIT
// Routers that honour the flag "don't fragment" (RFC 791, RFC 1191): a packet that is longer than the next link carries
// is dropped, and its sender gets a report. ns-3's own routers fragment every packet.
#ifndef CARRICK_DONT_FRAGMENT_H
#define CARRICK_DONT_FRAGMENT_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/node.h"

namespace ns3 {

// Knows no route: it asks the node's other routing protocols, and takes only packets that it drops.
class CarrickDontFragment : public Ipv4RoutingProtocol {
  public:
    static TypeId GetTypeId();
    // On a router that has IPv4 with a list of routing protocols, as InternetStackHelper makes it.
    static void Install(Ptr<Node> router);

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet, const Ipv4Header &header, Ptr<NetDevice> device,
                               Socket::SocketErrno &error) override;
    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header &header, Ptr<const NetDevice> device,
                    UnicastForwardCallback forward, MulticastForwardCallback multicast, LocalDeliverCallback deliver,
                    ErrorCallback fail) override;
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv4> m_ipv4;
};

} // namespace ns3

#endif
