// SPDX-License-Identifier: MIT
// One direction of a link as Carrick's simulator has it: rate, delay, a drop-tail queue, and faults from a list. ns-3's
// own devices take the rate and the delay at other moments (the transmitter's end, and then the channel's), so that
// events of one nanosecond change places.
#ifndef CARRICK_IDEAL_LINK_H
#define CARRICK_IDEAL_LINK_H

#include <cstdint>
#include <deque>
#include <map>

#include "ns3/simple-net-device.h"

namespace ns3 {

class IdealLinkDevice : public SimpleNetDevice {
  public:
    // What happens to a packet, in nanoseconds after it would arrive; NEVER: it does not arrive. If `mtu` is not 0, a
    // router at the end of the link reports to its sender that it was longer than this.
    struct Fault {
        uint64_t late, copy, mtu;
    };
    static constexpr uint64_t NEVER = UINT64_MAX;

    static TypeId GetTypeId();

    uint64_t rateBps = 0; // 0: no limit
    uint64_t delayNs = 0;
    uint64_t queuePackets = 0;
    std::map<uint64_t, Fault> faults; // by the number of the packet in this direction

    bool Send(Ptr<Packet> packet, const Address &to, uint16_t protocol) override;

  private:
    void Report(Ptr<const Packet> about, uint16_t protocol, uint64_t mtu, uint64_t in);
    void Deliver(Ptr<Packet> packet, const Address &to, uint16_t protocol, uint64_t in);

    uint64_t m_packets = 0, m_busyUntil = 0;
    std::deque<uint64_t> m_waiting; // when the packets that wait will have left
};

} // namespace ns3

#endif
