// SPDX-License-Identifier: MIT
// Clients make requests of a server over one link, by a program with the interface `rpc`, `multistream` or `verbs`.
// Both ends check every byte. The last lines say how many requests completed, and how long they took.
//
//     build/requests --requests=1000 --clients=4 --outstanding=8 --size=5000 --response=20000 --loss=0.01
//
// --size and --response also accept a random variable of ns-3, and --interval one for the seconds between the requests
// of a client: "ns3::ExponentialRandomVariable[Mean=0.001]" makes them a Poisson process.
// --operation=Write|Read|Send says what a request is for `verbs`.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "carrick-application-helper.h"
#include "carrick-client.h"
#include "carrick-helper.h"
#include "carrick-server.h"
#include "example.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace {

std::vector<double> g_latencies; // in microseconds
uint64_t g_failures = 0, g_serverFailures = 0, g_all = 0;

void Ended() {
    if (g_latencies.size() + g_failures == g_all) {
        Simulator::Stop();
    }
}

void Completed(uint64_t, uint32_t, Time latency) {
    g_latencies.push_back(static_cast<double>(latency.GetNanoSeconds()) / 1e3);
    Ended();
}

void Failed(uint64_t number, const std::string &reason) {
    std::printf("%.9f request %lu: %s\n", Simulator::Now().GetSeconds(), static_cast<unsigned long>(number),
                reason.c_str());
    ++g_failures;
    Ended();
}

void ServerFailed(const std::string &reason) {
    std::printf("%.9f the server: %s\n", Simulator::Now().GetSeconds(), reason.c_str());
    ++g_serverFailures;
}

struct Options {
    ExampleLink link;
    std::string size = "1000", response = "1000", interval, operation;
    uint32_t clients = 1, outstanding = 1;
    uint64_t requests = 1000;

    void Read(int argc, char **argv) {
        CommandLine command;
        link.AddOptions(command);
        command.AddValue("clients", "clients on the client's node", clients);
        command.AddValue("requests", "requests of each client", requests);
        command.AddValue("size", "bytes of a request, or a random variable", size);
        command.AddValue("response", "bytes of a response, or a random variable", response);
        command.AddValue("outstanding", "open requests of a client", outstanding);
        command.AddValue("interval", "random variable: seconds between requests; default: a closed loop", interval);
        command.AddValue("operation", "of verbs: Send, Write or Read", operation);
        command.Parse(argc, argv);
    }
};

// A number of bytes is the random variable that is always that.
std::string Variable(const std::string &text) {
    const bool number = text.find_first_not_of("0123456789") == std::string::npos;
    return number ? "ns3::ConstantRandomVariable[Constant=" + text + "]" : text;
}

ApplicationContainer Clients(const Options &options, const Address &server, Ptr<Node> node) {
    CarrickClientHelper helper(g_exampleProgram, server);
    helper.SetAttribute("RequestSize", StringValue(Variable(options.size)));
    helper.SetAttribute("ResponseSize", StringValue(Variable(options.response)));
    helper.SetAttribute("Outstanding", UintegerValue(options.outstanding));
    helper.SetAttribute("MaxRequests", UintegerValue(options.requests));
    if (!options.interval.empty()) {
        helper.SetAttribute("Interval", StringValue(options.interval));
    }
    if (!options.operation.empty()) {
        helper.SetAttribute("Operation", StringValue(options.operation));
    }
    ApplicationContainer clients;
    for (uint32_t i = 0; i < options.clients; ++i) {
        clients.Add(helper.Install(node));
    }
    for (uint32_t i = 0; i < clients.GetN(); ++i) {
        clients.Get(i)->TraceConnectWithoutContext("Completion", MakeCallback(&Completed));
        clients.Get(i)->TraceConnectWithoutContext("Failure", MakeCallback(&Failed));
    }
    return clients;
}

// The latency that so large a share of requests does not exceed.
double Quantile(double share) {
    const auto at = static_cast<size_t>(share * static_cast<double>(g_latencies.size() - 1));
    return g_latencies[at];
}

} // namespace

int main(int argc, char **argv) {
    const uint16_t port = 9;
    Options options;
    options.Read(argc, argv);
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4Address address = addresses.Assign(options.link.Install(nodes)).GetAddress(1);
    CarrickHelper(g_exampleProgram).Install(nodes);

    Ptr<Application> server = CarrickServerHelper(g_exampleProgram, port).Install(nodes.Get(1)).Get(0);
    server->TraceConnectWithoutContext("Failure", MakeCallback(&ServerFailed));
    const ApplicationContainer clients = Clients(options, InetSocketAddress(address, port), nodes.Get(0));
    g_all = options.requests * clients.GetN();

    Simulator::Stop(Seconds(3600));
    Simulator::Run();
    std::sort(g_latencies.begin(), g_latencies.end());
    std::printf("%zu of %lu requests at %.6f s, %lu at the server\n", g_latencies.size(),
                static_cast<unsigned long>(g_all), Simulator::Now().GetSeconds(),
                static_cast<unsigned long>(DynamicCast<CarrickServer>(server)->GetRequests()));
    if (!g_latencies.empty()) {
        std::printf("latency: median %.3f us, 99 %% %.3f us\n", Quantile(0.5), Quantile(0.99));
    }
    Simulator::Destroy();
    return g_latencies.size() == g_all && g_serverFailures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
