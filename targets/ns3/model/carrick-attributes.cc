// SPDX-License-Identifier: MIT
// The ns-3 type of a program: an attribute for each of its parameters, a trace source for each field of its contexts.
#include <algorithm>

#include "carrick-protocol.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3 {

namespace {

enum class Kind { NUMBER, SIGNED, BOOL, TIME, RATE };

Kind KindOf(const carrick_param_info &param) {
    const std::string unit = param.unit;
    if (unit == "ns") {
        return Kind::TIME;
    }
    if (unit == "bps") {
        return Kind::RATE;
    }
    if (unit == "bool") {
        return Kind::BOOL;
    }
    return param.is_signed ? Kind::SIGNED : Kind::NUMBER;
}

Ptr<AttributeValue> ValueOf(const carrick_param_info &param, uint64_t value) {
    switch (KindOf(param)) {
    case Kind::TIME:
        return Create<TimeValue>(NanoSeconds(static_cast<int64_t>(value)));
    case Kind::RATE:
        return Create<DataRateValue>(DataRate(value));
    case Kind::BOOL:
        return Create<BooleanValue>(value != 0);
    case Kind::SIGNED:
        return Create<IntegerValue>(static_cast<int64_t>(value));
    case Kind::NUMBER:
        break;
    }
    return Create<UintegerValue>(value);
}

Ptr<const AttributeChecker> CheckerOf(const carrick_param_info &param) {
    const auto lo = static_cast<int64_t>(param.lo);
    // A time of ns-3 has 63 bits.
    const auto hi = static_cast<int64_t>(param.is_signed ? param.hi : std::min<uint64_t>(param.hi, INT64_MAX));
    switch (KindOf(param)) {
    case Kind::TIME:
        return MakeTimeChecker(NanoSeconds(lo), NanoSeconds(hi));
    case Kind::RATE:
        return MakeDataRateChecker();
    case Kind::BOOL:
        return MakeBooleanChecker();
    case Kind::SIGNED:
        return MakeIntegerChecker<int64_t>(lo, hi);
    case Kind::NUMBER:
        break;
    }
    return MakeUintegerChecker<uint64_t>(param.lo, param.hi);
}

// A parameter as an attribute.
class ParamAccessor : public AttributeAccessor {
  public:
    ParamAccessor(uint32_t number, const carrick_param_info &param) : m_number(number), m_param(param) {}

    bool Set(ObjectBase *object, const AttributeValue &value) const override {
        auto *protocol = dynamic_cast<CarrickProtocol *>(object);
        uint64_t bits = 0;
        if (!protocol || !Bits(value, bits)) {
            return false;
        }
        protocol->SetParam(m_number, bits);
        return true;
    }

    bool Get(const ObjectBase *object, AttributeValue &value) const override {
        const auto *protocol = dynamic_cast<const CarrickProtocol *>(object);
        if (!protocol) {
            return false;
        }
        const Ptr<AttributeValue> found = ValueOf(m_param, protocol->GetParam(m_number));
        const Ptr<const AttributeChecker> checker = CheckerOf(m_param);
        return checker->Copy(*found, value);
    }

    bool HasGetter() const override {
        return true;
    }
    bool HasSetter() const override {
        return true;
    }

  private:
    bool Bits(const AttributeValue &value, uint64_t &bits) const {
        if (const auto *time = dynamic_cast<const TimeValue *>(&value)) {
            bits = static_cast<uint64_t>(time->Get().GetNanoSeconds());
        } else if (const auto *rate = dynamic_cast<const DataRateValue *>(&value)) {
            bits = rate->Get().GetBitRate();
        } else if (const auto *on = dynamic_cast<const BooleanValue *>(&value)) {
            bits = on->Get();
        } else if (const auto *number = dynamic_cast<const IntegerValue *>(&value)) {
            bits = static_cast<uint64_t>(number->Get());
        } else if (const auto *plain = dynamic_cast<const UintegerValue *>(&value)) {
            bits = plain->Get();
        } else {
            return false;
        }
        if (m_param.is_signed) {
            const auto at = static_cast<int64_t>(bits);
            return at >= static_cast<int64_t>(m_param.lo) && at <= static_cast<int64_t>(m_param.hi);
        }
        return bits >= m_param.lo && bits <= m_param.hi;
    }

    uint32_t m_number;
    const carrick_param_info &m_param;
};

// A source whose observers need a core that reports what it does.
class TracedSource : public TraceSourceAccessor {
  public:
    explicit TracedSource(Ptr<const TraceSourceAccessor> inner) : m_inner(inner) {}

    bool ConnectWithoutContext(ObjectBase *object, const CallbackBase &callback) const override {
        return Traced(object) && m_inner->ConnectWithoutContext(object, callback);
    }

    bool Connect(ObjectBase *object, std::string context, const CallbackBase &callback) const override {
        return Traced(object) && m_inner->Connect(object, context, callback);
    }

    bool DisconnectWithoutContext(ObjectBase *object, const CallbackBase &callback) const override {
        return m_inner->DisconnectWithoutContext(object, callback);
    }

    bool Disconnect(ObjectBase *object, std::string context, const CallbackBase &callback) const override {
        return m_inner->Disconnect(object, context, callback);
    }

  private:
    static bool Traced(ObjectBase *object) {
        auto *protocol = dynamic_cast<CarrickProtocol *>(object);
        if (protocol) {
            protocol->SetTraced();
        }
        return protocol != nullptr;
    }

    Ptr<const TraceSourceAccessor> m_inner;
};

// A field of all instances of a context.
class FieldSource : public TraceSourceAccessor {
  public:
    explicit FieldSource(uint32_t number) : m_number(number) {}

    bool ConnectWithoutContext(ObjectBase *object, const CallbackBase &callback) const override {
        return With(object, [&](auto &trace) { trace.ConnectWithoutContext(callback); });
    }

    bool Connect(ObjectBase *object, std::string context, const CallbackBase &callback) const override {
        return With(object, [&](auto &trace) { trace.Connect(callback, context); });
    }

    bool DisconnectWithoutContext(ObjectBase *object, const CallbackBase &callback) const override {
        return With(object, [&](auto &trace) { trace.DisconnectWithoutContext(callback); });
    }

    bool Disconnect(ObjectBase *object, std::string context, const CallbackBase &callback) const override {
        return With(object, [&](auto &trace) { trace.Disconnect(callback, context); });
    }

  private:
    template <typename F> bool With(ObjectBase *object, F change) const {
        auto *protocol = dynamic_cast<CarrickProtocol *>(object);
        if (!protocol) {
            return false;
        }
        change(protocol->FieldTrace(m_number));
        return true;
    }

    uint32_t m_number;
};

Ptr<const TraceSourceAccessor> Traced(Ptr<const TraceSourceAccessor> inner) {
    return Create<TracedSource>(inner);
}

} // namespace

TypeId CarrickProtocol::GetTypeId() {
    static TypeId type =
        TypeId("ns3::CarrickProtocol")
            .SetParent<IpL4Protocol>()
            .SetGroupName("Carrick")
            .AddAttribute("Seed", "Seed of the program's random numbers and secret key; 0: from ns-3's seed and run",
                          UintegerValue(0), MakeUintegerAccessor(&CarrickProtocol::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Requests", "Open requests at most, a power of two", UintegerValue(4096),
                          MakeUintegerAccessor(&CarrickProtocol::m_requests), MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Address", "The address that the program has; 0.0.0.0: the node's first",
                          Ipv4AddressValue(Ipv4Address("0.0.0.0")),
                          MakeIpv4AddressAccessor(&CarrickProtocol::m_address), MakeIpv4AddressChecker())
            .AddAttribute("Traced", "Reports events and fields even if no trace source is connected yet",
                          BooleanValue(false), MakeBooleanAccessor(&CarrickProtocol::m_traced), MakeBooleanChecker())
            .AddTraceSource("Tx", "A packet that the program sends, with its IPv4 header",
                            MakeTraceSourceAccessor(&CarrickProtocol::m_txTrace), "ns3::Packet::TracedCallback")
            .AddTraceSource("Rx", "A packet that the program is given, with its IPv4 header",
                            MakeTraceSourceAccessor(&CarrickProtocol::m_rxTrace), "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop", "A packet that the program drops, and the reason",
                            MakeTraceSourceAccessor(&CarrickProtocol::m_dropTrace),
                            "ns3::CarrickProtocol::DropCallback")
            .AddTraceSource("SendError", "A write of an application that failed: its size in bytes, and the reason",
                            MakeTraceSourceAccessor(&CarrickProtocol::m_sendErrorTrace),
                            "ns3::CarrickProtocol::SendErrorCallback")
            .AddTraceSource("Event", "An event: its name, its context, the words of its fields",
                            Traced(MakeTraceSourceAccessor(&CarrickProtocol::m_eventTrace)),
                            "ns3::CarrickProtocol::EventCallback")
            .AddTraceSource("Record", "A record of the trace: events, instructions, contexts, segments, drops",
                            Traced(MakeTraceSourceAccessor(&CarrickProtocol::m_recordTrace)),
                            "ns3::CarrickProtocol::RecordCallback");
    return type;
}

TypeId CarrickProtocol::Declare(TypeId type, const CarrickProgram &program) {
    type.SetParent<CarrickProtocol>().SetGroupName("Carrick");
    for (uint32_t i = 0; i < program.plain->param_count; ++i) {
        const carrick_param_info &param = program.plain->params[i];
        type.AddAttribute(param.name, "A parameter of the program", *ValueOf(param, param.initial),
                          Create<ParamAccessor>(i, param), CheckerOf(param));
    }
    uint32_t number = 0;
    for (uint32_t c = 0; c < program.contextCount; ++c) {
        const CarrickContext &context = program.contexts[c];
        for (uint32_t f = 0; f < context.count; ++f) {
            type.AddTraceSource(std::string(context.name) + "." + context.fields[f].name,
                                "The field of a context, when it changes: the value before and the value now; a "
                                "ns3::CarrickProtocol::FieldCallback gets the context first",
                                Traced(Create<FieldSource>(number++)),
                                CarrickFieldTrace::Signature(context.fields[f].type));
        }
    }
    return type;
}

} // namespace ns3
