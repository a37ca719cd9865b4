// SPDX-License-Identifier: MIT
// What the runs in ns-3 share: TCP as the other side has it, links, what is counted.

#ifndef BENCH_NS3_COMMON_H
#define BENCH_NS3_COMMON_H

#include <cstdint>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

namespace bench {

inline uint64_t g_dataPackets = 0;
inline uint64_t g_packets = 0;
inline uint64_t g_received = 0;
inline uint64_t g_wanted = 0;

// Counts what a device hands to the link; anything with more than headers carries data.
inline void CountTx(ns3::Ptr<const ns3::Packet> packet) {
    const uint32_t headersAtMost = 20 + 60 + 2;
    ++g_packets;
    if (packet->GetSize() > headersAtMost) {
        ++g_dataPackets;
    }
}

inline void CountRx(ns3::Ptr<const ns3::Packet> packet, const ns3::Address &) {
    g_received += packet->GetSize();
    if (g_received >= g_wanted) {
        ns3::Simulator::Stop();
    }
}

inline void Defaults() {
    const uint32_t mss = 1448;
    const uint32_t buffer = 1 << 20;
    ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(mss));
    ns3::Config::SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(buffer));
    ns3::Config::SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(buffer));
    ns3::Config::SetDefault("ns3::TcpL4Protocol::SocketType", ns3::TypeIdValue(ns3::TcpNewReno::GetTypeId()));
    ns3::Config::SetDefault("ns3::TcpSocketBase::Sack", ns3::BooleanValue(false));
}

// A link with a queue of so many packets before each end.
inline ns3::NetDeviceContainer Link(ns3::NodeContainer nodes, const char *rate, const char *delay, const char *queue) {
    ns3::PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", ns3::StringValue(rate));
    link.SetDeviceAttribute("Mtu", ns3::UintegerValue(1500));
    link.SetChannelAttribute("Delay", ns3::StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue(queue));
    ns3::NetDeviceContainer devices = link.Install(nodes);
    for (uint32_t i = 0; i < devices.GetN(); ++i) {
        devices.Get(i)->TraceConnectWithoutContext("PhyTxBegin", ns3::MakeCallback(&CountTx));
    }
    return devices;
}

// A transfer of so many bytes to an address, where it is counted.
inline void Transfer(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to, ns3::Ipv4Address address, uint64_t octets) {
    const uint16_t port = 5001;
    ns3::PacketSinkHelper sink("ns3::TcpSocketFactory", ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    sink.Install(to).Get(0)->TraceConnectWithoutContext("Rx", ns3::MakeCallback(&CountRx));
    ns3::BulkSendHelper bulk("ns3::TcpSocketFactory", ns3::InetSocketAddress(address, port));
    bulk.SetAttribute("MaxBytes", ns3::UintegerValue(octets));
    bulk.SetAttribute("SendSize", ns3::UintegerValue(65536));
    bulk.Install(from);
    g_wanted += octets;
}

} // namespace bench

#endif
