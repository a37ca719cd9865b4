// SPDX-License-Identifier: MIT
// A compiled program as a layer-4 protocol over IPv4. Knows no protocol: what it is comes from the program's tables.
#ifndef CARRICK_PROTOCOL_H
#define CARRICK_PROTOCOL_H

#include <memory>
#include <string>
#include <vector>

#include "carrick-core.h"
#include "carrick-field.h"
#include "ns3/ip-l4-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"

namespace ns3 {

struct CarrickContext {
    const char *name;
    const CarrickField *fields;
    uint32_t count;
};

// What a program is, beside its core. Generated.
struct CarrickProgram {
    const char *type;              // of the ns-3 type of its protocol: "ns3::Carrick..."
    const carrick_program *plain;  // as fast as it can be
    const carrick_program *traced; // reports what it does
    const CarrickContext *contexts;
    uint32_t contextCount;
    const char *const *events;
    uint32_t eventCount;
};

class CarrickProtocol : public IpL4Protocol, private CarrickCore::Host {
  public:
    // Signatures of trace sources.
    typedef void (*DropCallback)(Ptr<const Packet> packet, const std::string &reason);
    typedef void (*SendErrorCallback)(uint32_t size, const std::string &reason);
    typedef void (*EventCallback)(const std::string &event, uint64_t context, const std::vector<uint64_t> &words);
    typedef void (*FieldCallback)(uint64_t context, uint64_t before, uint64_t now);
    typedef void (*RecordCallback)(const CarrickRecord &record);

    static TypeId GetTypeId();
    // Adds what is known of a program: an attribute for each parameter, a trace source for each field.
    static TypeId Declare(TypeId type, const CarrickProgram &program);

    explicit CarrickProtocol(const CarrickProgram &program);
    ~CarrickProtocol() override;

    // Makes this the node's protocol of its number, in place of one of ns-3's own.
    void Install(Ptr<Node> node);
    // Makes the core, if there is none yet: at the first packet or request.
    CarrickCore &Core();
    const CarrickProgram &Program() const {
        return m_program;
    }
    // Whether the core reports events and fields; a trace source that needs this switches it on.
    void SetTraced();
    Ipv4Address GetAddress() const;
    // An application's write of this size failed. Applications of ns-3 do not ask why: who observes them hears it here.
    void ReportSendError(uint32_t size, const std::string &reason) {
        m_sendErrorTrace(size, reason);
    }
    Ptr<Node> GetNode() const {
        return m_node;
    }
    // A local port for a socket that chooses none (RFC 6335: dynamic ports).
    uint16_t NextPort() {
        return static_cast<uint16_t>(49152 + m_ports++ % 16384);
    }

    void SetParam(uint32_t number, uint64_t value);
    uint64_t GetParam(uint32_t number) const {
        return m_params[number];
    }
    CarrickFieldTrace &FieldTrace(uint32_t number);

    int GetProtocolNumber() const override;
    RxStatus Receive(Ptr<Packet> packet, const Ipv4Header &header, Ptr<Ipv4Interface> interface) override;
    RxStatus Receive(Ptr<Packet> packet, const Ipv6Header &header, Ptr<Ipv6Interface> interface) override;
    void SetDownTarget(DownTargetCallback target) override;
    void SetDownTarget6(DownTargetCallback6 target) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

  protected:
    void DoDispose() override;

  private:
    void ListenForReports();
    void ReceiveReports(Ptr<Socket> socket);
    void Take(Ptr<const Packet> packet, uint32_t len);
    void Send(const uint8_t *packet, uint32_t len) override;
    void Report(const CarrickRecord &record) override;
    void ReportContext(const CarrickRecord &record);
    void ReportDrop(Ptr<const Packet> packet);
    carrick_config Config() const;
    std::string Where() const;

    const CarrickProgram &m_program;
    Ptr<Node> m_node;
    Ptr<Ipv4> m_ipv4;
    std::unique_ptr<CarrickCore> m_core;
    Ptr<Socket> m_reports; // errors that the network reports, for a program that reads them
    std::vector<uint8_t> m_received;
    std::vector<uint64_t> m_counters; // at the last drop
    DownTargetCallback m_down;
    DownTargetCallback6 m_down6;

    std::vector<uint64_t> m_params;
    uint64_t m_seed = 0;
    uint32_t m_requests = 0;
    Ipv4Address m_address;
    bool m_traced = false;
    uint32_t m_ports = 0;

    // The last value of each field of each instance, of fields that somebody observes.
    std::unordered_map<uint64_t, std::vector<uint64_t>> m_values;
    std::vector<std::unique_ptr<CarrickFieldTrace>> m_fieldTraces;
    TracedCallback<Ptr<const Packet>> m_txTrace, m_rxTrace;
    TracedCallback<Ptr<const Packet>, const std::string &> m_dropTrace;
    TracedCallback<uint32_t, const std::string &> m_sendErrorTrace;
    TracedCallback<const std::string &, uint64_t, const std::vector<uint64_t> &> m_eventTrace;
    TracedCallback<const CarrickRecord &> m_recordTrace;
};

} // namespace ns3

#endif
