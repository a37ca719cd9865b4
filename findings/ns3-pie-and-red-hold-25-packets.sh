#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ns-3's PIE and RED hold 25 packets by default, and RED expects a link of 1.5 Mbit/s. At 20 Mbit/s 25 packets are 15 ms, which is PIE's
# target for the delay: PIE drops no packet early, and what is measured is a short drop-tail queue. One TCP, 20 Mbit/s, 20 ms, 20 s.
# Expected by most: PIE drops early, as RFC 8033 says. Seen: all drops are those of a full queue, until MaxSize is set.
# Versions: Debian 12's ns-3 3.37-2.
. "$(dirname "$0")/packages"

cat > pie.cc <<'CPP'
#include "ns3/bulk-send-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include <cstdio>

using namespace ns3;

int main(int argc, char **argv) {
    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("20Mbps"));
    link.SetChannelAttribute("Delay", StringValue("20ms"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("2p"));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    TrafficControlHelper control;
    if (argc > 1) {
        control.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", StringValue(argv[1]));
    } else {
        control.SetRootQueueDisc("ns3::PieQueueDisc");
    }
    Ptr<QueueDisc> queue = control.Install(devices.Get(0)).Get(0);
    Ipv4InterfaceContainer to = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(nodes.Get(1));
    BulkSendHelper("ns3::TcpSocketFactory", InetSocketAddress(to.GetAddress(1), 9)).Install(nodes.Get(0));
    Simulator::Stop(Seconds(20));
    Simulator::Run();
    const QueueDisc::Stats &stats = queue->GetStats();
    TypeId::AttributeInformation bandwidth;
    TypeId::LookupByName("ns3::RedQueueDisc").LookupAttributeByName("LinkBandwidth", &bandwidth);
    std::printf("early %u full %u red %s\n", stats.GetNDroppedPackets(PieQueueDisc::UNFORCED_DROP),
                stats.GetNDroppedPackets(PieQueueDisc::FORCED_DROP),
                bandwidth.initialValue->SerializeToString(bandwidth.checker).c_str());
    Simulator::Destroy();
}
CPP
ns3 pie.cc applications internet traffic-control point-to-point network core
read -r _ early _ full _ red <<< "$(./program)"
read -r _ early_of_1000 _ full_of_1000 _ <<< "$(./program 1000p)"
echo "expected by most: PIE drops early, whatever its default size"
echo "seen: by default $early early, $full full; with MaxSize=1000p $early_of_1000 early, $full_of_1000 full; RED's LinkBandwidth is $red"
if [ "$early" = 0 ] && [ "$full" -gt 0 ] && [ "$early_of_1000" -gt 0 ] && [ "$full_of_1000" = 0 ] && [ "$red" = 1500000bps ]; then echo "as found"; else echo "this has changed"; exit 1; fi
