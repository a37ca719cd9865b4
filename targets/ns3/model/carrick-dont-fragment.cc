// SPDX-License-Identifier: MIT
#include "carrick-dont-fragment.h"

#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"

namespace ns3 {

namespace {

constexpr int16_t PRIORITY = 1000; // before those that know routes

} // namespace

TypeId CarrickDontFragment::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickDontFragment")
                             .SetParent<Ipv4RoutingProtocol>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickDontFragment>();
    return type;
}

void CarrickDontFragment::Install(Ptr<Node> router) {
    Ptr<Ipv4> ipv4 = router->GetObject<Ipv4>();
    Ptr<Ipv4ListRouting> list = ipv4 ? DynamicCast<Ipv4ListRouting>(ipv4->GetRoutingProtocol()) : nullptr;
    if (!list) {
        NS_FATAL_ERROR("carrick: router " << router->GetId()
                                          << " has no list of IPv4 routing protocols: call "
                                             "InternetStackHelper().Install(router) before CarrickDontFragment");
    }
    list->AddRoutingProtocol(CreateObject<CarrickDontFragment>(), PRIORITY);
}

void CarrickDontFragment::SetIpv4(Ptr<Ipv4> ipv4) {
    m_ipv4 = ipv4;
}

void CarrickDontFragment::DoDispose() {
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

Ptr<Ipv4Route> CarrickDontFragment::RouteOutput(Ptr<Packet>, const Ipv4Header &, Ptr<NetDevice>,
                                                Socket::SocketErrno &error) {
    error = Socket::ERROR_NOROUTETOHOST;
    return nullptr;
}

bool CarrickDontFragment::RouteInput(Ptr<const Packet> packet, const Ipv4Header &header, Ptr<const NetDevice>,
                                     UnicastForwardCallback, MulticastForwardCallback, LocalDeliverCallback,
                                     ErrorCallback) {
    const Ipv4Address to = header.GetDestination();
    if (!header.IsDontFragment() || to.IsMulticast() || to.IsBroadcast()) {
        return false;
    }
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    Ptr<Ipv4Route> route = m_ipv4->GetRoutingProtocol()->RouteOutput(nullptr, header, nullptr, error);
    const uint16_t mtu = route ? route->GetOutputDevice()->GetMtu() : UINT16_MAX;
    if (packet->GetSize() + header.GetSerializedSize() <= mtu) {
        return false;
    }
    Ptr<Icmpv4L4Protocol> icmp = m_ipv4->GetObject<Icmpv4L4Protocol>();
    if (icmp) {
        icmp->SendDestUnreachFragNeeded(header, packet, mtu);
    }
    return true;
}

} // namespace ns3
