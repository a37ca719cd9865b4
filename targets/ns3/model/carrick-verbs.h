// SPDX-License-Identifier: MIT
// Applications over the interface `verbs`: a client has one queue pair, and each request is a SEND to the server, a
// WRITE to its memory, or a READ from it.
#ifndef CARRICK_VERBS_H
#define CARRICK_VERBS_H

#include "carrick-client.h"
#include "carrick-server.h"

namespace ns3 {

// What the two ends of a queue pair agree on, as connection management would: the simulation passes it on.
struct CarrickQueuePair {
    // Where the server's memory begins, and how many requests have a slot in it. A slot has the server's
    // MaxRequestSize.
    static constexpr uint64_t ADDRESS = 0x100000000;
    static constexpr uint32_t SLOTS = 64;

    uint32_t client; // number of the client
    uint32_t Number() const;
    // First packet number of the client, or of the server.
    uint32_t FirstPacket(bool ofClient) const;
    // Key of the memory that the client writes to, or reads from.
    uint32_t Key(bool written) const;
    // Where the slot of a request begins.
    static uint64_t At(uint32_t number, uint32_t size) {
        return static_cast<uint64_t>(number % SLOTS) * size;
    }
    // The contents of the slot of the memory that is read.
    CarrickPayload Slot(uint32_t number, uint32_t size) const;
};

class CarrickVerbsClient : public CarrickClient {
  public:
    enum Operation { SEND, WRITE, READ };

    static TypeId GetTypeId();

    ~CarrickVerbsClient() override;

    // The server is ready, and has slots of this size.
    void Join(uint32_t slot);

  private:
    friend class CarrickVerbsServer;

    void Open() override;
    void Begin(const CarrickPayload &request) override;
    void Close() override;
    uint32_t Most() const override;
    void Worked(const CarrickPayload &request, const std::vector<uint8_t> &bytes, const carrick_completion &done);
    CarrickQueuePair Pair() const {
        return {Number()};
    }

    Operation m_operation = SEND;
    uint32_t m_slot = 0;
    uint64_t m_pair = 0;
};

class CarrickVerbsServer : public CarrickServer {
  public:
    static TypeId GetTypeId();

    ~CarrickVerbsServer() override;

  private:
    friend class CarrickVerbsClient;

    // The server's end of a queue pair.
    struct End {
        CarrickQueuePair pair;
        Bytes written, read;
        uint64_t handle = 0;
    };

    void Open() override;
    void Close(uint64_t handle) override;
    bool Serves(CarrickVerbsClient &client);
    void Meet(Ptr<CarrickVerbsClient> client);
    void Join(Ptr<CarrickVerbsClient> client);
    void Joined(const std::shared_ptr<End> &end, Ptr<CarrickVerbsClient> client, const carrick_completion &done);
    void Register(const End &end, bool written);
    void Receive(const std::shared_ptr<End> &end);
    void Received(const End &end, std::vector<uint8_t> &bytes, uint64_t value);

    std::vector<std::shared_ptr<End>> m_ends;
};

} // namespace ns3

#endif
