// SPDX-License-Identifier: MIT
// A field of a context, and who observes it: with the signature of ns-3's TracedValue, or with the context's handle.
#ifndef CARRICK_FIELD_H
#define CARRICK_FIELD_H

#include <cstdint>
#include <memory>
#include <string>

#include "ns3/callback.h"

namespace ns3 {

// How a field is in trace records of its context. Generated.
struct CarrickField {
    // How many words: `size`; a list has its length and `size` for each element; a window has its head, its count of
    // ranges, and two for each range.
    enum Kind { PLAIN, LIST, WINDOW };
    // What an observer sees: the first word, as a value of this type.
    enum Type { BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, DOUBLE, TIME, RATE, SEQUENCE };
    const char *name;
    Kind kind;
    uint32_t size;
    Type type;
};

class CarrickFieldTrace {
  public:
    virtual ~CarrickFieldTrace() = default;

    // Connects a callback `void (T before, T now)`, as to a TracedValue<T>, or
    // `void (uint64_t context, uint64_t before, uint64_t now)`. Ends the simulation if it is neither.
    virtual void ConnectWithoutContext(const CallbackBase &callback) = 0;
    virtual void DisconnectWithoutContext(const CallbackBase &callback) = 0;
    // The same, of callbacks that get the path of the trace source as their first argument.
    virtual void Connect(const CallbackBase &callback, const std::string &path) = 0;
    virtual void Disconnect(const CallbackBase &callback, const std::string &path) = 0;
    // The field of a context has changed.
    virtual void Change(uint64_t context, uint64_t before, uint64_t now) const = 0;

    static std::unique_ptr<CarrickFieldTrace> Of(const CarrickField &field);
    // The signature of the callback, as ns-3 documents it: "ns3::TracedValueCallback::...".
    static const char *Signature(CarrickField::Type type);
};

} // namespace ns3

#endif
