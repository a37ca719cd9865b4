// SPDX-License-Identifier: MIT
// The congestion window of a bulk transfer over one point-to-point link in ns-3, as a yardstick for windows elsewhere.
// Usage: cwnd newreno|cubic SECONDS RATE DELAY QUEUE, for example: cwnd cubic 60 10Mbps 20ms 100p.
// Prints a line for each change: the time in seconds, the window in bytes, of segments of 1448.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "common.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

void WindowMoved(uint32_t, uint32_t now) {
    printf("%.9f %u\n", Simulator::Now().GetSeconds(), now);
}

// A socket has its window once the application has connected it.
void Watch() {
    Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionWindow",
                                  MakeCallback(&WindowMoved));
}

// What the other side does too: each segment is acknowledged, ten segments at first, selective acknowledgements with
// proportional rate reduction, and no way out of slow start but a loss.
void Tune(bool cubic) {
    const uint32_t buffer = 1 << 23;
    bench::Defaults();
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    if (cubic) {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: cwnd newreno|cubic SECONDS RATE DELAY QUEUE\n");
        return 2;
    }
    const uint64_t endless = 0;
    Tune(std::string(argv[1]) == "cubic");
    NodeContainer nodes;
    nodes.Create(2);
    NetDeviceContainer devices = bench::Link(nodes, argv[3], argv[4], argv[5]);
    InternetStackHelper().Install(nodes);
    Ipv4InterfaceContainer interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    // Else a queue discipline stands before the link's queue, and drops as it likes.
    TrafficControlHelper().Uninstall(devices);
    bench::Transfer(nodes.Get(0), nodes.Get(1), interfaces.GetAddress(1), endless);
    bench::g_wanted = UINT64_MAX;
    Simulator::Schedule(NanoSeconds(1), &Watch);
    Simulator::Stop(Seconds(strtod(argv[2], nullptr)));
    Simulator::Run();
    Simulator::Destroy();
    return EXIT_SUCCESS;
}
