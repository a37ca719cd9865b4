// SPDX-License-Identifier: MIT
#include "carrick-field.h"

#include "ns3/data-rate.h"
#include "ns3/fatal-error.h"
#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/traced-callback.h"

namespace ns3 {

namespace {

// The value of a word of a trace record.
template <typename T> T ValueIn(uint64_t word) {
    return static_cast<T>(word);
}

template <> double ValueIn<double>(uint64_t word) {
    constexpr double ONE = 4294967296.0; // 32 bits behind the point
    return static_cast<double>(static_cast<int64_t>(word)) / ONE;
}

template <> Time ValueIn<Time>(uint64_t word) {
    return NanoSeconds(static_cast<int64_t>(word));
}

template <> DataRate ValueIn<DataRate>(uint64_t word) {
    return DataRate(word);
}

template <> SequenceNumber32 ValueIn<SequenceNumber32>(uint64_t word) {
    return SequenceNumber32(static_cast<uint32_t>(word));
}

template <typename T> class FieldTrace : public CarrickFieldTrace {
  public:
    explicit FieldTrace(const CarrickField &field) : m_field(field) {}

    void ConnectWithoutContext(const CallbackBase &callback) override {
        if (IsValue(Callback<void, T, T>(), callback)) {
            m_values.ConnectWithoutContext(callback);
        } else {
            Expect(Callback<void, uint64_t, uint64_t, uint64_t>(), callback);
            m_contexts.ConnectWithoutContext(callback);
        }
    }

    void DisconnectWithoutContext(const CallbackBase &callback) override {
        if (IsValue(Callback<void, T, T>(), callback)) {
            m_values.DisconnectWithoutContext(callback);
        } else {
            m_contexts.DisconnectWithoutContext(callback);
        }
    }

    void Connect(const CallbackBase &callback, const std::string &path) override {
        if (IsValue(Callback<void, std::string, T, T>(), callback)) {
            m_values.Connect(callback, path);
        } else {
            Expect(Callback<void, std::string, uint64_t, uint64_t, uint64_t>(), callback);
            m_contexts.Connect(callback, path);
        }
    }

    void Disconnect(const CallbackBase &callback, const std::string &path) override {
        if (IsValue(Callback<void, std::string, T, T>(), callback)) {
            m_values.Disconnect(callback, path);
        } else {
            m_contexts.Disconnect(callback, path);
        }
    }

    void Change(uint64_t context, uint64_t before, uint64_t now) const override {
        m_values(ValueIn<T>(before), ValueIn<T>(now));
        m_contexts(context, before, now);
    }

  private:
    template <typename C> static bool IsValue(const C &wanted, const CallbackBase &callback) {
        return wanted.CheckType(callback);
    }

    template <typename C> void Expect(const C &wanted, const CallbackBase &callback) const {
        if (!wanted.CheckType(callback)) {
            NS_FATAL_ERROR("carrick: a callback has the wrong arguments for the field "
                           << m_field.name << ": use " << Signature(m_field.type)
                           << " (before, now), or ns3::CarrickProtocol::FieldCallback (context, before, now)");
        }
    }

    const CarrickField &m_field;
    TracedCallback<T, T> m_values;
    TracedCallback<uint64_t, uint64_t, uint64_t> m_contexts;
};

// What is known of a type.
struct Type {
    std::unique_ptr<CarrickFieldTrace> (*make)(const CarrickField &field);
    const char *signature;
};

template <typename T> std::unique_ptr<CarrickFieldTrace> Make(const CarrickField &field) {
    return std::make_unique<FieldTrace<T>>(field);
}

// In the order of CarrickField::Type.
constexpr Type TYPES[] = {
    {Make<bool>, "ns3::TracedValueCallback::Bool"},
    {Make<uint8_t>, "ns3::TracedValueCallback::Uint8"},
    {Make<uint16_t>, "ns3::TracedValueCallback::Uint16"},
    {Make<uint32_t>, "ns3::TracedValueCallback::Uint32"},
    {Make<uint64_t>, "ns3::TracedValueCallback::Uint64"},
    {Make<int8_t>, "ns3::TracedValueCallback::Int8"},
    {Make<int16_t>, "ns3::TracedValueCallback::Int16"},
    {Make<int32_t>, "ns3::TracedValueCallback::Int32"},
    {Make<int64_t>, "ns3::TracedValueCallback::Int64"},
    {Make<double>, "ns3::TracedValueCallback::Double"},
    {Make<Time>, "ns3::TracedValueCallback::Time"},
    {Make<DataRate>, "ns3::TracedValueCallback::DataRate"},
    {Make<SequenceNumber32>, "ns3::TracedValueCallback::SequenceNumber32"},
};
static_assert(std::size(TYPES) == CarrickField::SEQUENCE + 1);

} // namespace

std::unique_ptr<CarrickFieldTrace> CarrickFieldTrace::Of(const CarrickField &field) {
    return TYPES[field.type].make(field);
}

const char *CarrickFieldTrace::Signature(CarrickField::Type type) {
    return TYPES[type].signature;
}

} // namespace ns3
