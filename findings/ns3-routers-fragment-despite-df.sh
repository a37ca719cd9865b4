#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ns-3 has no path MTU discovery (RFC 1191) in IPv4. The attribute MtuDiscover of a UDP socket sets no flag "don't fragment". And a router fragments a packet
# that has the flag and does not fit the next link, and sends no ICMP error. So every packet arrives. Two datagrams of 1400 bytes, one by a socket with
# MtuDiscover, one with the flag by Ipv4::SendWithHeader; MTUs of 1500, 576, 1500.
# Expected by most: the router drops both and reports the MTU twice. Seen: one flag, six fragments on the narrow link, and both arrive.
# Versions: Debian 12's ns-3 3.37-2.
. "$(dirname "$0")/packages"

cat > fragments.cc <<'CPP'
#include "ns3/boolean.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/udp-header.h"
#include "ns3/udp-socket-factory.h"
#include <cstdio>

using namespace ns3;

int g_narrow = 0, g_flagged = 0, g_back = 0, g_arrived = 0;

void Narrow(Ptr<const Packet>, Ptr<Ipv4>, uint32_t interface) {
    g_narrow += interface == 2;
    g_back += interface == 1;
}

void First(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
    Ipv4Header header;
    packet->PeekHeader(header);
    g_flagged += header.IsDontFragment();
}

void Receive(Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) {
        g_arrived += static_cast<int>(packet->GetSize());
    }
}

void SendWithFlag(Ptr<Node> node, Ipv4Address from, Ipv4Address to) {
    Ptr<Packet> packet = Create<Packet>(1400);
    UdpHeader ports;
    ports.SetSourcePort(7);
    ports.SetDestinationPort(9);
    packet->AddHeader(ports);
    Ipv4Header header;
    header.SetSource(from);
    header.SetDestination(to);
    header.SetProtocol(17);
    header.SetTtl(64);
    header.SetIdentification(7);
    header.SetDontFragment();
    header.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    ipv4->SendWithHeader(packet, header, ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error));
}

int main() {
    NodeContainer nodes(4);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    for (uint32_t i = 0; i < 3; ++i) {
        NetDeviceContainer devices = PointToPointHelper().Install(nodes.Get(i), nodes.Get(i + 1));
        if (i == 1) {
            devices.Get(0)->SetMtu(576);
            devices.Get(1)->SetMtu(576);
        }
        last = addresses.Assign(devices);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&First));
    nodes.Get(1)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&Narrow));
    Ptr<Socket> to = Socket::CreateSocket(nodes.Get(3), UdpSocketFactory::GetTypeId());
    to->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    to->SetRecvCallback(MakeCallback(&Receive));
    Ptr<Socket> from = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
    from->SetAttribute("MtuDiscover", BooleanValue(true));
    from->Connect(InetSocketAddress(last.GetAddress(1), 9));
    Simulator::Schedule(Seconds(1), [from] { from->Send(Create<Packet>(1400)); });
    Simulator::Schedule(Seconds(2), &SendWithFlag, nodes.Get(0), Ipv4Address("10.0.0.1"), last.GetAddress(1));
    Simulator::Stop(Seconds(60));
    Simulator::Run();
    std::printf("%d %d %d %d\n", g_flagged, g_narrow, g_back, g_arrived);
    Simulator::Destroy();
}
CPP
ns3 fragments.cc internet point-to-point network core
read -r flagged narrow back arrived <<< "$(./program)"
echo "expected by most: 2 packets sent with the flag, none on the narrow link, 2 errors back, 0 bytes arrive"
echo "seen: $flagged sent with the flag, $narrow on the narrow link, $back back, $arrived bytes arrive"
if [ "$flagged" = 1 ] && [ "$narrow" = 6 ] && [ "$back" = 0 ] && [ "$arrived" = 2800 ]; then echo "as found"; else echo "this has changed"; exit 1; fi
