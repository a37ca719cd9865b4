// SPDX-License-Identifier: MIT
#include "ideal-link.h"

#include <algorithm>

#include "ns3/error-model.h"
#include "ns3/icmpv4.h"
#include "ns3/ipv4-header.h"
#include "ns3/node.h"
#include "ns3/queue.h"
#include "ns3/simple-channel.h"
#include "ns3/simulator.h"

namespace ns3 {

namespace {

constexpr uint64_t NS_PER_BYTE_AT_1_BPS = 8000000000;
const Ipv4Address ROUTER("10.0.0.254");
constexpr uint8_t ICMP = 1, TTL = 64;

} // namespace

TypeId IdealLinkDevice::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickIdealLinkDevice")
                             .SetParent<SimpleNetDevice>()
                             .SetGroupName("Carrick")
                             .AddConstructor<IdealLinkDevice>();
    return type;
}

bool IdealLinkDevice::Send(Ptr<Packet> packet, const Address &to, uint16_t protocol) {
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    while (!m_waiting.empty() && m_waiting.front() <= now) {
        m_waiting.pop_front();
    }
    const uint64_t number = m_packets++;
    if (m_waiting.size() >= queuePackets) {
        return false;
    }
    const uint64_t serialisation = rateBps ? packet->GetSize() * NS_PER_BYTE_AT_1_BPS / rateBps : 0;
    m_busyUntil = std::max(m_busyUntil, now) + serialisation;
    m_waiting.push_back(m_busyUntil);
    const uint64_t arrival = m_busyUntil - now + delayNs;
    const auto found = faults.find(number);
    const Fault fault = found == faults.end() ? Fault{0, NEVER, 0} : found->second;
    if (fault.mtu > 0) {
        Report(packet, protocol, fault.mtu, arrival);
    }
    if (fault.copy != NEVER) {
        Deliver(packet->Copy(), to, protocol, arrival + fault.copy);
    }
    if (fault.late != NEVER) {
        Deliver(packet, to, protocol, arrival + fault.late);
    }
    return true;
}

// ICMP "fragmentation needed", with the network header and 8 bytes of the packet.
void IdealLinkDevice::Report(Ptr<const Packet> about, uint16_t protocol, uint64_t mtu, uint64_t in) {
    Ptr<Packet> quoted = about->Copy();
    Ipv4Header sent;
    quoted->RemoveHeader(sent);
    Icmpv4DestinationUnreachable unreachable;
    unreachable.SetNextHopMtu(static_cast<uint16_t>(mtu));
    unreachable.SetHeader(sent);
    unreachable.SetData(quoted);
    Icmpv4Header icmp;
    icmp.SetType(Icmpv4Header::ICMPV4_DEST_UNREACH);
    icmp.SetCode(Icmpv4DestinationUnreachable::ICMPV4_FRAG_NEEDED);
    icmp.EnableChecksum();
    Ptr<Packet> report = Create<Packet>();
    report->AddHeader(unreachable);
    report->AddHeader(icmp);
    Ipv4Header header;
    header.SetSource(ROUTER);
    header.SetDestination(sent.GetSource());
    header.SetProtocol(ICMP);
    header.SetTtl(TTL);
    header.SetPayloadSize(static_cast<uint16_t>(report->GetSize()));
    header.EnableChecksum();
    report->AddHeader(header);
    const Mac48Address own = Mac48Address::ConvertFrom(GetAddress());
    Simulator::ScheduleWithContext(GetNode()->GetId(), NanoSeconds(static_cast<int64_t>(in)), &SimpleNetDevice::Receive,
                                   Ptr<SimpleNetDevice>(this), report, protocol, own, own);
}

void IdealLinkDevice::Deliver(Ptr<Packet> packet, const Address &to, uint16_t protocol, uint64_t in) {
    const Ptr<Channel> channel = GetChannel();
    for (size_t i = 0; i < channel->GetNDevices(); ++i) {
        Ptr<SimpleNetDevice> peer = DynamicCast<SimpleNetDevice>(channel->GetDevice(i));
        if (peer != this) {
            Simulator::ScheduleWithContext(peer->GetNode()->GetId(), NanoSeconds(static_cast<int64_t>(in)),
                                           &SimpleNetDevice::Receive, peer, packet, protocol,
                                           Mac48Address::ConvertFrom(to), Mac48Address::ConvertFrom(GetAddress()));
        }
    }
}

} // namespace ns3
