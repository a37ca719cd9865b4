// SPDX-License-Identifier: MIT
// A transfer whose server also gets packets that nobody sent: of each that arrives one with another bit, one that is cut,
// and one of random bytes. The last line says what arrived, how many of those there were, and how many were dropped.
#include <cstdio>
#include <vector>

#include "carrick-helper.h"
#include "example.h"
#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-interface.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace {

constexpr uint32_t SENT = 300000, LONGEST = 2000;

class Attacker {
  public:
    explicit Attacker(Ptr<CarrickProtocol> server) : m_server(std::move(server)) {
        m_server->TraceConnectWithoutContext("Rx", MakeCallback(&Attacker::Arrived, this));
        m_server->TraceConnectWithoutContext("Drop", MakeCallback(&Attacker::Dropped, this));
    }

    uint32_t made = 0, dropped = 0;

  private:
    // Its own packets arrive as well, and are not copied.
    void Arrived(Ptr<const Packet> packet) {
        if (m_giving) {
            return;
        }
        Ptr<Packet> copy = packet->Copy();
        Ipv4Header header;
        copy->RemoveHeader(header);
        std::vector<uint8_t> bytes(copy->GetSize());
        copy->CopyData(bytes.data(), copy->GetSize());
        Simulator::ScheduleNow(&Attacker::Damage, this, header, bytes);
    }

    void Damage(Ipv4Header header, std::vector<uint8_t> bytes) {
        std::vector<uint8_t> other = bytes, random(Below(LONGEST));
        other.at(Below(static_cast<uint32_t>(other.size()))) ^= static_cast<uint8_t>(1u << Below(8));
        bytes.resize(Below(static_cast<uint32_t>(bytes.size())));
        for (uint8_t &byte : random) {
            byte = static_cast<uint8_t>(Below(256));
        }
        for (const std::vector<uint8_t> &all : {other, bytes, random}) {
            ++made;
            m_giving = true;
            header.SetPayloadSize(static_cast<uint16_t>(all.size()));
            m_server->Receive(Create<Packet>(all.data(), static_cast<uint32_t>(all.size())), header, nullptr);
            m_giving = false;
        }
    }

    void Dropped(Ptr<const Packet>, const std::string &) {
        dropped += m_giving ? 1 : 0;
    }

    uint32_t Below(uint32_t bound) {
        return m_random->GetInteger(0, bound - 1);
    }

    Ptr<CarrickProtocol> m_server;
    Ptr<UniformRandomVariable> m_random = CreateObject<UniformRandomVariable>();
    bool m_giving = false;
};

} // namespace

int main() {
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4Address address = addresses.Assign(ExampleLink().Install(nodes)).GetAddress(1);
    const CarrickHelper carrick(g_exampleProgram);
    Attacker attacker(carrick.Install(nodes.Get(1)));
    carrick.Install(nodes.Get(0));
    ApplicationContainer sink =
        PacketSinkHelper(carrick.SocketFactory(), InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(nodes.Get(1));
    BulkSendHelper bulk(carrick.SocketFactory(), InetSocketAddress(address, 9));
    bulk.SetAttribute("MaxBytes", UintegerValue(SENT));
    bulk.Install(nodes.Get(0));
    Simulator::Stop(Seconds(10));
    Simulator::Run();
    std::printf("%lu of %u bytes, %u damaged packets, %u dropped\n",
                static_cast<unsigned long>(DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx()), SENT, attacker.made,
                attacker.dropped);
    Simulator::Destroy();
    return EXIT_SUCCESS;
}
