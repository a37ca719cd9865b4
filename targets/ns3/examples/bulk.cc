// SPDX-License-Identifier: MIT
// A transfer over one link, or a path with a narrow one, by ns-3's own applications, BulkSend and PacketSink,
// unmodified. Both ends have the program, but for one that is given another socket factory. The last line says what
// arrived, and when.
//
//     build/bulk --server=ns3::...SocketFactory --bytes=20000000 --rate=100Mbps --delay=5ms --loss=0.01
//
// --path-mtu=576 puts two routers between them and a link with this MTU between those; --fragment lets them fragment.
// --write=BYTES sets the size of writes: a message of some programs must fit into one packet.
// --trace=CONTEXT.FIELD prints each change of a field of the client's program.
#include <cstdio>
#include <ctime>
#include <vector>

#include "carrick-dont-fragment.h"
#include "carrick-helper.h"
#include "example.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace {

uint64_t g_received = 0, g_wanted = 0;

void Received(Ptr<const Packet> packet, const Address &) {
    g_received += packet->GetSize();
    if (g_received >= g_wanted) {
        Simulator::Stop();
    }
}

void Changed(uint64_t, uint64_t, uint64_t now) {
    std::printf("%.9f %lu\n", Simulator::Now().GetSeconds(), static_cast<unsigned long>(now));
}

void Dropped(Ptr<const Packet> packet, const std::string &reason) {
    std::printf("%.9f a packet of %u octets is dropped: %s\n", Simulator::Now().GetSeconds(), packet->GetSize(),
                reason.c_str());
}

struct Path {
    ExampleLink link;
    uint32_t mtu = 0; // of a link in the middle; 0: there is one link only
    bool fragment = false;
};

// Connects the first node to the second, directly or through routers. Returns the second's address.
Ipv4Address Connect(const NodeContainer &ends, const Path &path) {
    std::vector<Ptr<Node>> nodes = {ends.Get(0), ends.Get(1)};
    NodeContainer routers;
    if (path.mtu > 0) {
        routers.Create(2);
        InternetStackHelper().Install(routers);
        nodes.insert(nodes.begin() + 1, routers.Begin(), routers.End());
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer link;
    for (size_t i = 1; i < nodes.size(); ++i) {
        const NetDeviceContainer devices = path.link.Install(NodeContainer(nodes[i - 1], nodes[i]));
        if (i == 2) {
            devices.Get(0)->SetMtu(static_cast<uint16_t>(path.mtu));
            devices.Get(1)->SetMtu(static_cast<uint16_t>(path.mtu));
        }
        link = addresses.Assign(devices);
        addresses.NewNetwork();
    }
    for (auto router = routers.Begin(); router != routers.End() && !path.fragment; ++router) {
        CarrickDontFragment::Install(*router);
    }
    if (path.mtu > 0) {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    return link.GetAddress(1);
}

// Starts ns-3's application that sends: `write` bytes at a time.
void Send(Ptr<Node> node, const std::string &factory, const InetSocketAddress &to, const std::string &onoff,
          uint32_t write) {
    if (onoff.empty()) {
        BulkSendHelper bulk(factory, to);
        bulk.SetAttribute("MaxBytes", UintegerValue(g_wanted));
        bulk.SetAttribute("SendSize", UintegerValue(write));
        bulk.Install(node);
        return;
    }
    OnOffHelper steady(factory, to);
    steady.SetAttribute("MaxBytes", UintegerValue(g_wanted));
    steady.SetConstantRate(DataRate(onoff), write);
    steady.Install(node);
}

} // namespace

int main(int argc, char **argv) {
    const CarrickHelper carrick(g_exampleProgram);
    std::string factories[] = {carrick.SocketFactory(), carrick.SocketFactory()};
    std::string onoff, trace;
    Path path;
    ExampleWrites writes;
    g_wanted = 20000000;
    CommandLine command;
    command.AddValue("client", "socket factory of the client", factories[0]);
    command.AddValue("server", "socket factory of the server", factories[1]);
    command.AddValue("bytes", "bytes that the client sends", g_wanted);
    path.link.AddOptions(command);
    writes.AddOptions(command);
    command.AddValue("path-mtu", "MTU of a link in the middle of the path; default: there is one link", path.mtu);
    command.AddValue("fragment", "routers fragment packets that are too long; default: they report them",
                     path.fragment);
    command.AddValue("onoff", "rate at which OnOff sends; default: BulkSend sends", onoff);
    command.AddValue("trace", "field of a context whose changes are printed", trace);
    command.Parse(argc, argv);

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    const Ipv4Address server = Connect(nodes, path);

    for (uint32_t i = 0; i < 2; ++i) {
        if (factories[i] != carrick.SocketFactory()) {
            continue;
        }
        Ptr<CarrickProtocol> protocol = carrick.Install(nodes.Get(i));
        protocol->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
        ExampleWrites::Observe(protocol);
        if (i == 0 && !trace.empty() && !protocol->TraceConnectWithoutContext(trace, MakeCallback(&Changed))) {
            NS_FATAL_ERROR("the program has no field " << trace << ": name one as CONTEXT.FIELD");
        }
    }
    const uint16_t port = 5001;
    PacketSinkHelper sink(factories[1], InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(nodes.Get(1)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    Send(nodes.Get(0), factories[0], InetSocketAddress(server, port), onoff,
         writes.Size(carrick.Program(), !onoff.empty()));

    const std::clock_t begin = std::clock();
    Simulator::Stop(Seconds(3600));
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%lu of %lu bytes at %.6f s\n", static_cast<unsigned long>(g_received),
                static_cast<unsigned long>(g_wanted), Simulator::Now().GetSeconds());
    std::fprintf(stderr, "the simulation took %.3f s of processor time\n", seconds);
    Simulator::Destroy();
    return g_received == g_wanted && !ExampleWrites::HaveFailed() ? EXIT_SUCCESS : EXIT_FAILURE;
}
