// SPDX-License-Identifier: MIT
// Replays a run of the simulator in ns-3: two nodes, an ideal link between them, the same requests, the same faults.
// Usage: replay LIBRARY SCRIPT. The library is a program's core, built with CARRICK_TRACE. What both cores do goes to
// standard output, as a stream of records (enum carrick_record_kind in crates/sim's reader).
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

#include "carrick-protocol.h"
#include "carrick/records.h"
#include "ideal-link.h"
#include "ns3/boolean.h"
#include "ns3/error-model.h"
#include "ns3/global-value.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/node-container.h"
#include "ns3/queue.h"
#include "ns3/simple-channel.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"
#include "script.h"

using namespace ns3;

namespace {

class Records {
  public:
    explicit Records(uint32_t host) : m_host(host) {}

    void Write(uint32_t kind, uint32_t number, const std::vector<uint64_t> &words) const {
        const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
        const carrick_record_head head = {now, m_host, kind, number, static_cast<uint32_t>(words.size())};
        if (std::fwrite(&head, sizeof head, 1, stdout) != 1 ||
            std::fwrite(words.data(), sizeof(uint64_t), words.size(), stdout) != words.size()) {
            std::exit(EXIT_FAILURE); // nobody reads any more
        }
    }

    void Record(const CarrickRecord &record) const {
        Write(record.kind, record.number, record.words);
    }

    void Sent(Ptr<const Packet> packet) const {
        std::vector<uint64_t> words((packet->GetSize() + 7) / 8);
        packet->CopyData(reinterpret_cast<uint8_t *>(words.data()), packet->GetSize());
        Write(CARRICK_RECORD_SENT, packet->GetSize(), words);
    }

  private:
    uint32_t m_host;
};

// Does what the application of a host did in the simulator: whenever something reaches it, it makes the same requests.
class Replayer {
  public:
    Replayer(ScriptHost &host, const Records &records) : m_host(host), m_records(records) {}

    void SetCore(CarrickCore &core) {
        m_core = &core;
    }

    void React() {
        if (m_next >= m_host.reactions.size()) {
            return; // more has reached it than in the simulator: the records show what differs
        }
        std::vector<ScriptAsk> &asks = m_host.reactions[m_next++];
        m_core->Together([this, &asks] {
            for (ScriptAsk &ask : asks) {
                Make(ask);
            }
        });
    }

  private:
    void Make(ScriptAsk &ask) {
        if (ask.kind == ScriptAsk::WAKE) {
            const Time in = NanoSeconds(static_cast<int64_t>(ask.at)) - Simulator::Now();
            Simulator::Schedule(in, &Replayer::React, this);
        } else if (ask.kind == ScriptAsk::CALL) {
            Call(ask);
        }
    }

    void Call(ScriptAsk &ask) {
        carrick_request request = {};
        request.handle = ask.handle;
        request.token = ask.token;
        std::copy(ask.args.begin(), ask.args.end(), request.args);
        request.writable = ask.data == ScriptAsk::RECV || ask.data == ScriptAsk::SHARED;
        if (ask.data != ScriptAsk::NONE) {
            ask.octets.reserve(1); // no pointer is no region, not an empty one
            request.data = {ask.octets.data(), ask.octets.size(), 0};
        }
        m_core->Call(static_cast<uint32_t>(ask.call), request, [this](const carrick_completion &done) {
            m_records.Write(CARRICK_RECORD_COMPLETED, done.status, {done.token, done.value});
            React();
        });
    }

    ScriptHost &m_host;
    const Records &m_records;
    CarrickCore *m_core = nullptr;
    size_t m_next = 0;
};

const carrick_program &Load(const char *path, const char *name) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        NS_FATAL_ERROR("replay: " << dlerror());
    }
    auto *core = static_cast<const carrick_program *>(dlsym(library, name));
    if (!core || core->abi != CARRICK_ABI) {
        NS_FATAL_ERROR("replay: " << path << " was built by another version of carrick");
    }
    return *core;
}

void Link(const Script &script, const NodeContainer &nodes) {
    Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>();
    for (uint32_t i = 0; i < 2; ++i) {
        Ptr<IdealLinkDevice> device = CreateObject<IdealLinkDevice>();
        device->SetAttribute("PointToPointMode", BooleanValue(true));
        device->SetAddress(Mac48Address::Allocate());
        device->SetChannel(channel);
        nodes.Get(i)->AddDevice(device);
        device->SetMtu(static_cast<uint16_t>(script.hosts[i].mtu));
        device->rateBps = script.rateBps;
        device->delayNs = script.delayNs;
        device->queuePackets = script.queuePackets;
        for (const ScriptFault &fault : script.faults[i]) {
            device->faults[fault.packet] = {fault.late, fault.copy, fault.mtu};
        }
        Ptr<Ipv4> ipv4 = nodes.Get(i)->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        const Ipv4Address address(static_cast<uint32_t>(script.hosts[i].address));
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask("255.255.255.0")));
        ipv4->SetUp(interface);
    }
}

Ptr<CarrickProtocol> Install(const CarrickProgram &program, const ScriptHost &host, Ptr<Node> node) {
    Ptr<CarrickProtocol> protocol = CreateObject<CarrickProtocol>(program);
    protocol->SetAttribute("Seed", UintegerValue(host.seed));
    protocol->SetAttribute("Requests", UintegerValue(host.requests));
    for (uint32_t i = 0; i < host.params.size(); ++i) {
        protocol->SetParam(i, host.params[i]);
    }
    protocol->SetTraced();
    protocol->Install(node);
    return protocol;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: replay LIBRARY SYMBOL SCRIPT\n");
        return 2;
    }
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    const carrick_program &core = Load(argv[1], argv[2]);
    const CarrickProgram program = {"", &core, &core, nullptr, 0, nullptr, 0};
    Script script = ReadScript(argv[3]);
    NodeContainer nodes(2);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Link(script, nodes);

    const Records records[2] = {Records(0), Records(1)};
    Replayer replayers[2] = {{script.hosts[0], records[0]}, {script.hosts[1], records[1]}};
    for (uint32_t i = 0; i < 2; ++i) {
        const ScriptHost &host = script.hosts[i];
        Ptr<CarrickProtocol> protocol = Install(program, host, nodes.Get(i));
        replayers[i].SetCore(protocol->Core());
        const carrick_record_opening fixed = {core.source_hash, 0, host.address, host.mtu, host.seed};
        std::vector<uint64_t> opening(sizeof fixed / sizeof(uint64_t));
        std::memcpy(opening.data(), &fixed, sizeof fixed);
        for (uint32_t p = 0; p < core.param_count; ++p) {
            opening.push_back(protocol->GetParam(p));
        }
        records[i].Write(CARRICK_RECORD_OPENED, 0, opening);
        protocol->TraceConnectWithoutContext("Record", MakeCallback(&Records::Record, &records[i]));
        protocol->TraceConnectWithoutContext("Tx", MakeCallback(&Records::Sent, &records[i]));
    }
    // As in the simulator: who answers is there before anybody asks.
    Simulator::ScheduleNow(&Replayer::React, &replayers[1]);
    Simulator::ScheduleNow(&Replayer::React, &replayers[0]);
    Simulator::Stop(NanoSeconds(static_cast<int64_t>(script.endNs) + 1));
    Simulator::Run();
    Simulator::Destroy();
    return std::fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
