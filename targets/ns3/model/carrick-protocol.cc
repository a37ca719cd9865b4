// SPDX-License-Identifier: MIT
#include "carrick-protocol.h"

#include <cstring>
#include <sstream>

#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3 {

namespace {

constexpr uint32_t HEADER = 20; // bytes of an IPv4 header without options
constexpr uint32_t LONGEST = 65535;
constexpr uint32_t LEAST_MTU = 68;
constexpr uint32_t ICMP_HEADER = 8;
// ICMP, and the types of its messages that report an error.
constexpr uint8_t ICMP = 1, UNREACHABLE = 3, EXCEEDED = 11, PARAMETER = 12;

uint16_t Load16(const uint8_t *at) {
    return static_cast<uint16_t>(at[0] << 8 | at[1]);
}

uint32_t Load32(const uint8_t *at) {
    return static_cast<uint32_t>(Load16(at)) << 16 | Load16(at + 2);
}

void Store16(uint8_t *at, uint32_t value) {
    at[0] = static_cast<uint8_t>(value >> 8);
    at[1] = static_cast<uint8_t>(value);
}

void Store32(uint8_t *at, uint32_t value) {
    Store16(at, value >> 16);
    Store16(at + 2, value & 0xffff);
}

// The Internet checksum (RFC 1071).
uint16_t Checksum(const uint8_t *from, uint32_t len) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i + 1 < len; i += 2) {
        sum += Load16(from + i);
    }
    if (len % 2 == 1) {
        sum += from[len - 1] << 8;
    }
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~((sum & 0xffff) + (sum >> 16)));
}

void FillChecksum(uint8_t *from, uint32_t len, uint32_t at) {
    Store16(from + at, 0);
    Store16(from + at, Checksum(from, len));
}

// Fills in the checksums of an ICMP message behind its IPv4 header, which ns-3 leaves out by default.
void FillReport(uint8_t *report, uint32_t len) {
    const uint32_t header = (report[0] & 15) * 4;
    if (header >= HEADER && len >= header + ICMP_HEADER) {
        FillChecksum(report, header, 10);
        FillChecksum(report + header, len - header, 2);
    }
}

// Writes the header as it was on the wire: ns-3 has taken it off, and by default has not computed its checksum.
void WriteHeader(const Ipv4Header &header, uint32_t payload, uint8_t *to) {
    std::memset(to, 0, HEADER);
    to[0] = 0x45;
    to[1] = header.GetTos();
    Store16(to + 2, HEADER + payload);
    Store16(to + 4, header.GetIdentification());
    to[6] = header.IsDontFragment() ? 0x40 : 0;
    to[8] = header.GetTtl();
    to[9] = header.GetProtocol();
    Store32(to + 12, header.GetSource().Get());
    Store32(to + 16, header.GetDestination().Get());
    Store16(to + 10, Checksum(to, HEADER));
}

Ipv4Header ReadHeader(const uint8_t *from, uint32_t len) {
    Ipv4Header header;
    header.SetTos(from[1]);
    header.SetPayloadSize(static_cast<uint16_t>(len - HEADER));
    header.SetIdentification(Load16(from + 4));
    if (from[6] & 0x40) {
        header.SetDontFragment();
    }
    header.SetTtl(from[8]);
    header.SetProtocol(from[9]);
    header.SetSource(Ipv4Address(Load32(from + 12)));
    header.SetDestination(Ipv4Address(Load32(from + 16)));
    return header;
}

} // namespace

CarrickProtocol::CarrickProtocol(const CarrickProgram &program) : m_program(program), m_received(LONGEST) {
    for (uint32_t i = 0; i < program.plain->param_count; ++i) {
        m_params.push_back(program.plain->params[i].initial);
    }
    for (uint32_t i = 0; i < program.contextCount; ++i) {
        const CarrickContext &context = program.contexts[i];
        for (uint32_t f = 0; f < context.count; ++f) {
            m_fieldTraces.push_back(CarrickFieldTrace::Of(context.fields[f]));
        }
    }
}

CarrickProtocol::~CarrickProtocol() = default;

void CarrickProtocol::DoDispose() {
    m_core.reset();
    if (m_reports) {
        m_reports->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        m_reports->Close();
        m_reports = nullptr;
    }
    m_ipv4 = nullptr;
    m_node = nullptr;
    m_down.Nullify();
    m_down6.Nullify();
    IpL4Protocol::DoDispose();
}

std::string CarrickProtocol::Where() const {
    std::ostringstream text;
    text << m_program.plain->name << " on node " << m_node->GetId();
    return text.str();
}

void CarrickProtocol::Install(Ptr<Node> node) {
    m_node = node;
    m_ipv4 = node->GetObject<Ipv4>();
    Ptr<Ipv4L3Protocol> layer = node->GetObject<Ipv4L3Protocol>();
    if (!layer) {
        NS_FATAL_ERROR(
            "carrick: node " << node->GetId()
                             << " has no IPv4: call InternetStackHelper().Install(node) before CarrickHelper");
    }
    if (m_program.plain->network != CARRICK_NETWORK_IPV4) {
        NS_FATAL_ERROR("carrick: " << m_program.plain->name << " sends whole frames; ns-3 hosts programs over IPv4");
    }
    Ptr<IpL4Protocol> old = layer->GetProtocol(GetProtocolNumber());
    if (Ptr<CarrickProtocol> other = DynamicCast<CarrickProtocol>(old)) {
        NS_FATAL_ERROR("carrick: node " << node->GetId() << " has the program " << other->m_program.plain->name
                                        << " for the protocol number " << GetProtocolNumber() << " already: install "
                                        << m_program.plain->name << " on another node");
    }
    if (old) {
        layer->Remove(old);
    }
    layer->Insert(this);
    node->AggregateObject(this);
}

Ipv4Address CarrickProtocol::GetAddress() const {
    if (m_address != Ipv4Address::GetAny()) {
        return m_address;
    }
    for (uint32_t i = 0; i < m_ipv4->GetNInterfaces(); ++i) {
        for (uint32_t a = 0; a < m_ipv4->GetNAddresses(i); ++a) {
            const Ipv4Address address = m_ipv4->GetAddress(i, a).GetLocal();
            if (!address.IsLocalhost()) {
                return address;
            }
        }
    }
    NS_FATAL_ERROR("carrick: " << Where()
                               << " has no address: assign one (Ipv4AddressHelper) before the program is used");
}

carrick_config CarrickProtocol::Config() const {
    carrick_config config = {};
    const Ipv4Address address = GetAddress();
    const int32_t interface = m_ipv4->GetInterfaceForAddress(address);
    if (interface < 0) {
        NS_FATAL_ERROR("carrick: " << Where() << " has no interface with the address " << address
                                   << ": set the attribute Address to one of the node's own");
    }
    config.address = address.Get();
    config.mtu = std::max(LEAST_MTU, static_cast<uint32_t>(m_ipv4->GetMtu(static_cast<uint32_t>(interface))));
    config.completions = m_requests;
    config.params = m_params.data();
    config.checksums_offloaded = !Node::ChecksumEnabled();
    // Every run of ns-3 (--RngRun) and every node has its own.
    config.seed = m_seed
                      ? m_seed
                      : RngSeedManager::GetSeed() * 1000003ull + RngSeedManager::GetRun() * 65537ull + m_node->GetId();
    return config;
}

CarrickCore &CarrickProtocol::Core() {
    if (!m_core) {
        const carrick_program &program = m_traced ? *m_program.traced : *m_program.plain;
        const carrick_config config = Config();
        const char *unmet = program.unmet ? program.unmet(&config) : nullptr;
        if (unmet) {
            NS_FATAL_ERROR("carrick: the attributes of " << Where() << " must meet `" << unmet << "`");
        }
        m_core.reset(new CarrickCore(program, config, *this));
        if (!m_core->IsOpen()) {
            NS_FATAL_ERROR("carrick: there is no memory for " << Where()
                                                              << ": lower the attributes that set its capacity");
        }
        m_counters.resize(program.counter_count);
        if (program.reports) {
            ListenForReports();
        }
    }
    return *m_core;
}

void CarrickProtocol::SetTraced() {
    if (m_core && !m_traced) {
        NS_FATAL_ERROR("carrick: " << Where()
                                   << " runs without a trace already: connect to trace sources of events and fields "
                                      "before its first packet or request, or set the attribute Traced");
    }
    m_traced = true;
}

int CarrickProtocol::GetProtocolNumber() const {
    return m_program.plain->protocol;
}

IpL4Protocol::RxStatus CarrickProtocol::Receive(Ptr<Packet> packet, const Ipv4Header &header, Ptr<Ipv4Interface>) {
    const uint32_t payload = std::min(packet->GetSize(), LONGEST - HEADER);
    WriteHeader(header, payload, m_received.data());
    packet->CopyData(m_received.data() + HEADER, payload);
    Take(packet, HEADER + payload);
    return RX_OK;
}

// Gives the core what was received; `packet` is what a drop is reported for.
void CarrickProtocol::Take(Ptr<const Packet> packet, uint32_t len) {
    if (!m_rxTrace.IsEmpty()) {
        m_rxTrace(Create<Packet>(m_received.data(), len));
    }
    if (!Core().Receive(m_received.data(), len)) {
        ReportDrop(packet);
    }
}

// A raw socket has whole messages: IpL4Protocol::ReceiveIcmp says neither how long the quoted packet was, nor anything
// of parameter problems.
void CarrickProtocol::ListenForReports() {
    m_reports = Socket::CreateSocket(m_node, TypeId::LookupByName("ns3::Ipv4RawSocketFactory"));
    m_reports->SetAttribute("Protocol", UintegerValue(ICMP));
    m_reports->SetAttribute("IcmpFilter", UintegerValue(~(1u << UNREACHABLE | 1u << EXCEEDED | 1u << PARAMETER)));
    m_reports->SetRecvCallback(MakeCallback(&CarrickProtocol::ReceiveReports, this));
    m_reports->Bind(InetSocketAddress(GetAddress(), 0));
}

void CarrickProtocol::ReceiveReports(Ptr<Socket> socket) {
    while (Ptr<Packet> report = socket->Recv()) {
        const uint32_t len = report->CopyData(m_received.data(), LONGEST);
        if (!Node::ChecksumEnabled()) {
            FillReport(m_received.data(), len);
        }
        Take(report, len);
    }
}

// The reason is the counter that went up.
void CarrickProtocol::ReportDrop(Ptr<const Packet> packet) {
    const carrick_program &program = m_core->Program();
    const uint64_t *counters = m_core->Counters();
    for (uint32_t i = 0; i < program.counter_count; ++i) {
        if (counters[i] != m_counters[i]) {
            m_dropTrace(packet, program.counter_names[i]);
            break;
        }
    }
    m_counters.assign(counters, counters + program.counter_count);
}

IpL4Protocol::RxStatus CarrickProtocol::Receive(Ptr<Packet>, const Ipv6Header &, Ptr<Ipv6Interface>) {
    return RX_ENDPOINT_UNREACH;
}

void CarrickProtocol::Send(const uint8_t *packet, uint32_t len) {
    if (!m_txTrace.IsEmpty()) {
        m_txTrace(Create<Packet>(packet, len));
    }
    const Ipv4Header header = ReadHeader(packet, len);
    Ptr<Packet> payload = Create<Packet>(packet + HEADER, len - HEADER);
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    Ptr<Ipv4Route> route = m_ipv4->GetRoutingProtocol()->RouteOutput(payload, header, nullptr, error);
    if (route) {
        m_ipv4->SendWithHeader(payload, header, route);
    } else {
        m_dropTrace(payload, "no_route");
    }
}

void CarrickProtocol::Report(const CarrickRecord &record) {
    m_recordTrace(record);
    if (record.kind == CARRICK_TRACE_EVENT && record.number < m_program.eventCount && !m_eventTrace.IsEmpty()) {
        const std::vector<uint64_t> words(record.words.begin() + 1, record.words.end());
        m_eventTrace(m_program.events[record.number], record.words[0], words);
    }
    if (record.kind == CARRICK_TRACE_CONTEXT && record.number < m_program.contextCount) {
        ReportContext(record);
    }
}

// Shows the fields that changed: of a list its length, of a window its head, else the first word.
void CarrickProtocol::ReportContext(const CarrickRecord &record) {
    uint32_t trace = 0;
    for (uint32_t i = 0; i < record.number; ++i) {
        trace += m_program.contexts[i].count;
    }
    const CarrickContext &context = m_program.contexts[record.number];
    std::vector<uint64_t> &values = m_values[record.words[0]];
    values.resize(context.count);
    size_t at = 1;
    for (uint32_t i = 0; i < context.count && at < record.words.size(); ++i, ++trace) {
        const CarrickField &field = context.fields[i];
        const uint64_t before = values[i], now = record.words[at];
        values[i] = now;
        if (now != before) {
            m_fieldTraces[trace]->Change(record.words[0], before, now);
        }
        switch (field.kind) {
        case CarrickField::PLAIN:
            at += field.size;
            break;
        case CarrickField::LIST:
            at += 1 + now * field.size;
            break;
        case CarrickField::WINDOW:
            at += 2 + (at + 1 < record.words.size() ? 2 * record.words[at + 1] : 0);
            break;
        }
    }
}

void CarrickProtocol::SetParam(uint32_t number, uint64_t value) {
    if (m_core) {
        NS_FATAL_ERROR("carrick: " << Where() << " runs already: set its attribute "
                                   << m_program.plain->params[number].name << " before its first packet or request");
    }
    m_params[number] = value;
}

CarrickFieldTrace &CarrickProtocol::FieldTrace(uint32_t number) {
    return *m_fieldTraces[number];
}

void CarrickProtocol::SetDownTarget(DownTargetCallback target) {
    m_down = target;
}

void CarrickProtocol::SetDownTarget6(DownTargetCallback6 target) {
    m_down6 = target;
}

IpL4Protocol::DownTargetCallback CarrickProtocol::GetDownTarget() const {
    return m_down;
}

IpL4Protocol::DownTargetCallback6 CarrickProtocol::GetDownTarget6() const {
    return m_down6;
}

} // namespace ns3
