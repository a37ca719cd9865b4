// SPDX-License-Identifier: MIT
// A bulk transfer over one point-to-point link in ns-3: the yardstick for the simulator's speed.
// Usage: bulk BYTES RATE DELAY, for example: bulk 10000000 100Mbps 10ms. Prints one JSON line.
// The link, the segment size, the buffers and the queue are those that the other side is given.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace {

uint64_t g_dataPackets = 0;
uint64_t g_packets = 0;
uint64_t g_received = 0;
uint64_t g_wanted = 0;

// Counts what a device hands to the link; anything with more than headers carries data.
void CountTx(Ptr<const Packet> packet) {
    const uint32_t headersAtMost = 20 + 60 + 2;
    ++g_packets;
    if (packet->GetSize() > headersAtMost) {
        ++g_dataPackets;
    }
}

void CountRx(Ptr<const Packet> packet, const Address &) {
    g_received += packet->GetSize();
    if (g_received >= g_wanted) {
        Simulator::Stop();
    }
}

void Defaults() {
    const uint32_t mss = 1448;
    const uint32_t buffer = 1 << 20;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
}

NetDeviceContainer Link(const NodeContainer &nodes, const char *rate, const char *delay) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetDeviceAttribute("Mtu", UintegerValue(1500));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000p"));
    return link.Install(nodes);
}

} // namespace

int main(int argc, char **argv) {
    g_wanted = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10000000;
    const char *rate = argc > 2 ? argv[2] : "100Mbps";
    const char *delay = argc > 3 ? argv[3] : "10ms";
    Defaults();
    NodeContainer nodes;
    nodes.Create(2);
    NetDeviceContainer devices = Link(nodes, rate, delay);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i) {
        devices.Get(i)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountTx));
    }
    const uint16_t port = 5001;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer server = sink.Install(nodes.Get(1));
    server.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&CountRx));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    bulk.SetAttribute("MaxBytes", UintegerValue(g_wanted));
    bulk.SetAttribute("SendSize", UintegerValue(65536));
    bulk.Install(nodes.Get(0));

    auto begin = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(3600));
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double simulated = Simulator::Now().GetSeconds();
    printf("{\"what\":\"ns3-bulk\",\"bytes\":%llu,\"rate\":\"%s\",\"delay\":\"%s\",\"received\":%llu,\"simulated_s\":%."
           "6f,\"wall_s\":%.6f,"
           "\"packets\":%llu,\"data_packets\":%llu,\"data_packets_per_s\":%.0f,\"packets_per_s\":%.0f}\n",
           (unsigned long long)g_wanted, rate, delay, (unsigned long long)g_received, simulated, wall,
           (unsigned long long)g_packets, (unsigned long long)g_dataPackets, (double)g_dataPackets / wall,
           (double)g_packets / wall);
    Simulator::Destroy();
    return g_received >= g_wanted ? EXIT_SUCCESS : EXIT_FAILURE;
}
