// SPDX-License-Identifier: MIT
// An application that makes requests of its node's program by the calls of the program's interface. Knows no interface.
#ifndef CARRICK_APPLICATION_H
#define CARRICK_APPLICATION_H

#include <memory>
#include <vector>

#include "carrick-call.h"
#include "carrick-protocol.h"
#include "ns3/application.h"

namespace ns3 {

class CarrickApplication : public Application {
  public:
    static TypeId GetTypeId();

  protected:
    using Bytes = std::shared_ptr<std::vector<uint8_t>>;
    using Done = CarrickCore::Done;

    // The data of a request: what is sent, or where it is received. It stays until the request completes.
    struct Data {
        Bytes bytes;
        bool writable = false;
        size_t from = 0;
    };

    void DoDispose() override;

    CarrickProtocol &Protocol();
    // Makes a request. Returns false if the program lacks the call.
    bool Ask(const char *call, uint64_t handle, CarrickCall::Args args, const Data &data, const Done &done);

    using Ended = std::function<void(uint8_t status)>;
    // Sends all bytes on a connection or stream, by as many calls of `send` as it takes.
    void SendAll(uint64_t handle, const Bytes &bytes, const Ended &ended);
    // Receives by calls of `recv` until the peer ends its direction, and adds the bytes to `bytes`: `most` of them, and
    // then one more, so that a longer stream is seen.
    void ReceiveAll(uint64_t handle, const Bytes &bytes, size_t most, const Ended &ended);

    // Whether the program had no free space for the request, so that it may succeed later.
    static bool IsFull(uint8_t status) {
        return status == CARRICK_BUSY || status == CARRICK_NO_ROOM;
    }

  private:
    void SendFrom(size_t from, uint64_t handle, const Bytes &bytes, const Ended &ended);

    TypeId m_type; // of the program's protocol
    Ptr<CarrickProtocol> m_protocol;
};

} // namespace ns3

#endif
