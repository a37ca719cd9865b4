// SPDX-License-Identifier: MIT
// A bulk transfer over one point-to-point link in ns-3: the yardstick for the simulator's speed.
// Usage: bulk BYTES RATE DELAY, for example: bulk 10000000 100Mbps 10ms. Prints one JSON line.
// The link, the segment size, the buffers and the queue are those that the other side is given.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "common.h"

using namespace ns3;

int main(int argc, char **argv) {
    const uint64_t octets = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10000000;
    const char *rate = argc > 2 ? argv[2] : "100Mbps";
    const char *delay = argc > 3 ? argv[3] : "10ms";
    bench::Defaults();
    NodeContainer nodes;
    nodes.Create(2);
    NetDeviceContainer devices = bench::Link(nodes, rate, delay, "1000p");
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    bench::Transfer(nodes.Get(0), nodes.Get(1), interfaces.GetAddress(1), octets);

    auto begin = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(3600));
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double simulated = Simulator::Now().GetSeconds();
    printf("{\"what\":\"ns3-bulk\",\"bytes\":%llu,\"rate\":\"%s\",\"delay\":\"%s\",\"received\":%llu,\"simulated_s\":%."
           "6f,\"wall_s\":%.6f,"
           "\"packets\":%llu,\"data_packets\":%llu,\"data_packets_per_s\":%.0f,\"packets_per_s\":%.0f}\n",
           (unsigned long long)octets, rate, delay, (unsigned long long)bench::g_received, simulated, wall,
           (unsigned long long)bench::g_packets, (unsigned long long)bench::g_dataPackets,
           (double)bench::g_dataPackets / wall, (double)bench::g_packets / wall);
    Simulator::Destroy();
    return bench::g_received >= octets ? EXIT_SUCCESS : EXIT_FAILURE;
}
