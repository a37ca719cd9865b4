// SPDX-License-Identifier: MIT
// Flows that share a bottleneck: half of the senders have the program, half another socket factory of ns-3's. Prints
// the throughput of each flow, in Mbit/s, and the share of the bottleneck that both halves have. First it prints the
// settings of the queue discipline that decide how it drops. Flows begin at random times within the first 0.1 s.
//
//     build/dumbbell --flows=4 --other=ns3::...SocketFactory --queue=ns3::FqCoDelQueueDisc
//
// --timeline=FILE writes what each half carries over time, and the bottleneck's queue: a table that `carrick plot`
// draws.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "carrick-helper.h"
#include "example.h"
#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-dumbbell.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace {

struct Options {
    uint32_t flows = 4;
    double seconds = 20;
    std::string rate = "20Mbps", delay = "20ms", queue = "ns3::FifoQueueDisc", other, timeline;
    bool ecn = false;
    ExampleWrites writes;
};

// The settings of a queue discipline that decide how it drops. By default, RED and PIE of ns-3 hold 25 packets, which
// is little for most bottlenecks: PIE then only drops when it is full. RED's estimate of an idle queue needs the link's
// rate, by default 1.5 Mbit/s.
constexpr const char *SETTINGS[] = {"MaxSize", "LinkBandwidth"};

bool Find(const std::string &queue, const char *setting, TypeId::AttributeInformation *found) {
    return TypeId::LookupByName(queue).LookupAttributeByName(setting, found);
}

void ChooseSettings(const Options &options) {
    const std::string values[] = {"1000p", options.rate};
    TypeId::AttributeInformation found;
    for (size_t i = 0; i < std::size(SETTINGS); ++i) {
        if (Find(options.queue, SETTINGS[i], &found)) {
            Config::SetDefault(options.queue + "::" + SETTINGS[i], StringValue(values[i]));
        }
    }
}

void PrintSettings(const Options &options) {
    std::printf("bottleneck: %s", options.queue.c_str());
    TypeId::AttributeInformation found;
    for (const char *setting : SETTINGS) {
        if (Find(options.queue, setting, &found)) {
            std::printf(", %s=%s", setting, found.initialValue->SerializeToString(found.checker).c_str());
        }
    }
    std::printf("\n");
}

Options Read(int argc, char **argv) {
    Options options;
    CommandLine command;
    command.AddValue("flows", "number of flows", options.flows);
    command.AddValue("other", "socket factory of every second flow; default: the program's", options.other);
    command.AddValue("seconds", "simulated time", options.seconds);
    command.AddValue("rate", "rate of the bottleneck", options.rate);
    command.AddValue("delay", "delay of the bottleneck", options.delay);
    command.AddValue("queue", "queue discipline of the bottleneck", options.queue);
    command.AddValue("ecn", "the queue discipline marks packets where it can", options.ecn);
    command.AddValue("timeline", "file for a table over time; default: none", options.timeline);
    options.writes.AddOptions(command);
    command.Parse(argc, argv);
    ChooseSettings(options);
    command.Parse(argc, argv); // again: --ns3::RedQueueDisc::MaxSize=... is stronger than what was chosen
    PrintSettings(options);
    return options;
}

PointToPointHelper Link(const std::string &rate, const std::string &delay) {
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    // The queue discipline is where packets wait, not the device.
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("2p"));
    return link;
}

Ptr<QueueDisc> SetQueue(const Options &options, Ptr<NetDevice> bottleneck) {
    TrafficControlHelper().Uninstall(NetDeviceContainer(bottleneck));
    TrafficControlHelper control;
    if (options.ecn) {
        control.SetRootQueueDisc(options.queue, "UseEcn", BooleanValue(true));
    } else {
        control.SetRootQueueDisc(options.queue);
    }
    return control.Install(NetDeviceContainer(bottleneck)).Get(0);
}

using Sinks = std::vector<Ptr<PacketSink>>;

uint64_t Received(const Sinks &sinks, uint32_t half) {
    uint64_t sum = 0;
    for (uint32_t i = half; i < sinks.size(); i += 2) {
        sum += sinks[i]->GetTotalRx();
    }
    return sum;
}

// A table of what each half of the flows carries, and of the bottleneck's queue, point by point.
class Timeline {
  public:
    Timeline(const Options &options, const Sinks &sinks, Ptr<QueueDisc> queue)
        : m_file(options.timeline), m_bottleneck(static_cast<double>(DataRate(options.rate).GetBitRate())),
          m_sinks(sinks), m_queue(queue) {
        m_file << "seed,point,time_ns,goodput_bps,utilisation,to_host_longest_bytes,between_longest_bytes,"
                  "between_together_bytes,flows\n";
        Later();
    }

  private:
    static constexpr double INTERVAL = 0.2; // seconds

    void Later() {
        Simulator::Schedule(Seconds(INTERVAL), &Timeline::Point, this);
    }

    void Point() {
        const uint32_t queued = m_queue->GetNBytes();
        for (uint32_t half = 0; half < 2; ++half) {
            const uint64_t received = Received(m_sinks, half);
            const double rate = static_cast<double>(received - m_received[half]) * 8 / INTERVAL;
            m_received[half] = received;
            m_file << "1," << m_points << ',' << Simulator::Now().GetNanoSeconds() << ',' << rate << ','
                   << rate / m_bottleneck << ",0," << queued << ',' << queued << ',' << (half == 0 ? "ours" : "theirs")
                   << '\n';
        }
        ++m_points;
        Later();
    }

    std::ofstream m_file;
    double m_bottleneck;
    const Sinks &m_sinks;
    Ptr<QueueDisc> m_queue;
    uint64_t m_received[2] = {0, 0};
    uint32_t m_points = 0;
};

// Both ends of a flow have the same factory.
Ptr<PacketSink> Flow(const std::string &factory, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint32_t write) {
    const uint16_t port = 5001;
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
    BulkSendHelper bulk(factory, InetSocketAddress(address, port));
    bulk.SetAttribute("SendSize", UintegerValue(write));
    Ptr<UniformRandomVariable> begin = CreateObject<UniformRandomVariable>();
    begin->SetAttribute("Max", DoubleValue(0.1)); // seconds
    bulk.Install(from).StartWithJitter(Seconds(0), begin);
    return DynamicCast<PacketSink>(sink.Install(to).Get(0));
}

} // namespace

int main(int argc, char **argv) {
    const CarrickHelper carrick(g_exampleProgram);
    const std::string ours = carrick.SocketFactory();
    const Options options = Read(argc, argv);
    PointToPointDumbbellHelper net(options.flows, Link("1Gbps", "1ms"), options.flows, Link("1Gbps", "1ms"),
                                   Link(options.rate, options.delay));
    net.InstallStack(InternetStackHelper());
    net.AssignIpv4Addresses(Ipv4AddressHelper("10.1.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.2.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.3.0.0", "255.255.255.0"));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // The bottleneck was linked first: it is the first device of the router.
    Ptr<QueueDisc> queue = SetQueue(options, net.GetLeft()->GetDevice(0));

    const uint32_t write = options.writes.Size(carrick.Program());
    Sinks sinks;
    for (uint32_t i = 0; i < options.flows; ++i) {
        const bool other = i % 2 == 1 && !options.other.empty();
        if (!other) {
            ExampleWrites::Observe(carrick.Install(net.GetLeft(i)));
            ExampleWrites::Observe(carrick.Install(net.GetRight(i)));
        }
        sinks.push_back(
            Flow(other ? options.other : ours, net.GetLeft(i), net.GetRight(i), net.GetRightIpv4Address(i), write));
    }
    std::unique_ptr<Timeline> timeline;
    if (!options.timeline.empty()) {
        timeline = std::make_unique<Timeline>(options, sinks, queue);
    }
    Simulator::Stop(Seconds(options.seconds));
    Simulator::Run();
    for (uint32_t i = 0; i < options.flows; ++i) {
        const double rate = static_cast<double>(sinks[i]->GetTotalRx()) * 8e-6 / options.seconds;
        std::printf("flow %u, %s: %.3f Mbit/s\n", i, i % 2 && !options.other.empty() ? "theirs" : "ours", rate);
    }
    const auto even = static_cast<double>(Received(sinks, 0)), odd = static_cast<double>(Received(sinks, 1));
    std::printf("even flows have %.3f of what is carried\n", even / (even + odd));
    Simulator::Destroy();
    return ExampleWrites::HaveFailed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
