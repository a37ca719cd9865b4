// SPDX-License-Identifier: MIT
#include "ideal-link.h"

#include <algorithm>

#include "ns3/error-model.h"
#include "ns3/node.h"
#include "ns3/queue.h"
#include "ns3/simple-channel.h"
#include "ns3/simulator.h"

namespace ns3 {

namespace {

constexpr uint64_t NS_PER_BYTE_AT_1_BPS = 8000000000;

}

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
    const Fault fault = found == faults.end() ? Fault{0, NEVER} : found->second;
    if (fault.copy != NEVER) {
        Deliver(packet->Copy(), to, protocol, arrival + fault.copy);
    }
    if (fault.late != NEVER) {
        Deliver(packet, to, protocol, arrival + fault.late);
    }
    return true;
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
