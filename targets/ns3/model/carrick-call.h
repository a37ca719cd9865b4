// SPDX-License-Identifier: MIT
// A call of a program's interface, found by its name, and where its arguments go.
#ifndef CARRICK_CALL_H
#define CARRICK_CALL_H

#include <initializer_list>
#include <string>
#include <utility>

#include "carrick-core.h"

namespace ns3 {

class CarrickCall {
  public:
    using Args = std::initializer_list<std::pair<const char *, uint64_t>>;

    CarrickCall() = default; // of no program
    CarrickCall(const carrick_program &program, const char *name);

    // Whether the program has such a call.
    bool Exists() const {
        return m_info != nullptr;
    }
    // A request with these arguments, by the names of the fields; those that the program does not have are left out.
    carrick_request Request(uint64_t handle, Args args) const;
    // As CarrickCore::Call.
    uint64_t Make(CarrickCore &core, const carrick_request &request, CarrickCore::Done done) const;
    // A status of a completion in words.
    static const char *Reason(uint8_t status);

  private:
    const carrick_call_info *m_info = nullptr;
    uint32_t m_number = 0;
};

} // namespace ns3

#endif
