// SPDX-License-Identifier: MIT
// Transfers between all hosts of a fat tree (Al-Fares et al., SIGCOMM 2008) in ns-3: host i sends to the host half of all
// hosts behind it. Usage: fattree K BYTES RATE DELAY, for example: fattree 4 1000000 10Gbps 1us. Prints one JSON line.
// Of equal paths each flow takes the first that global routing finds; what is counted is packets on links.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "common.h"

using namespace ns3;

namespace {

class Tree {
  public:
    Tree(uint32_t k, const char *rate, const char *delay) : m_k(k), m_rate(rate), m_delay(delay) {
        m_hosts.Create(k * k * k / 4);
        m_edges.Create(k * k / 2);
        m_aggregations.Create(k * k / 2);
        m_cores.Create(k * k / 4);
        InternetStackHelper stack;
        for (const NodeContainer *nodes : {&m_hosts, &m_edges, &m_aggregations, &m_cores}) {
            stack.Install(*nodes);
        }
        Join();
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    void Permute(uint64_t octets) const {
        const uint32_t n = m_hosts.GetN();
        for (uint32_t i = 0; i < n; ++i) {
            Ptr<Node> to = m_hosts.Get((i + n / 2) % n);
            const Ipv4Address address = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
            bench::Transfer(m_hosts.Get(i), to, address, octets);
        }
    }

  private:
    void Join() {
        const uint32_t half = m_k / 2;
        for (uint32_t edge = 0; edge < m_edges.GetN(); ++edge) {
            const uint32_t pod = edge / half;
            for (uint32_t i = 0; i < half; ++i) {
                Link(m_hosts.Get(edge * half + i), m_edges.Get(edge));
                Link(m_edges.Get(edge), m_aggregations.Get(pod * half + i));
            }
        }
        for (uint32_t aggregation = 0; aggregation < m_aggregations.GetN(); ++aggregation) {
            for (uint32_t i = 0; i < half; ++i) {
                Link(m_aggregations.Get(aggregation), m_cores.Get(aggregation % half * half + i));
            }
        }
    }

    void Link(Ptr<Node> a, Ptr<Node> b) {
        m_addresses.Assign(bench::Link(NodeContainer(a, b), m_rate, m_delay, "250p"));
        m_addresses.NewNetwork();
    }

    uint32_t m_k;
    const char *m_rate, *m_delay;
    NodeContainer m_hosts, m_edges, m_aggregations, m_cores;
    Ipv4AddressHelper m_addresses{"10.0.0.0", "255.255.255.252"};
};

} // namespace

int main(int argc, char **argv) {
    const uint32_t k = argc > 1 ? (uint32_t)strtoul(argv[1], nullptr, 10) : 4;
    const uint64_t octets = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000000;
    bench::Defaults();
    const Tree tree(k, argc > 3 ? argv[3] : "10Gbps", argc > 4 ? argv[4] : "1us");
    tree.Permute(octets);

    auto begin = std::chrono::steady_clock::now();
    Simulator::Stop(Seconds(3600));
    Simulator::Run();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("{\"what\":\"ns3-fattree\",\"received\":%llu,\"simulated_s\":%.6f,\"wall_s\":%.6f,\"links\":%llu,"
           "\"links_per_s\":%.0f}\n",
           (unsigned long long)bench::g_received, Simulator::Now().GetSeconds(), wall,
           (unsigned long long)bench::g_packets, (double)bench::g_packets / wall);
    Simulator::Destroy();
    return bench::g_received >= bench::g_wanted ? EXIT_SUCCESS : EXIT_FAILURE;
}
