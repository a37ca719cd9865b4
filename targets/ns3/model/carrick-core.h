// SPDX-License-Identifier: MIT
// One core in virtual time: packets and requests go in, packets and completions come out, timers fire. Knows no node
// and no protocol; it owns the core's memory.
#ifndef CARRICK_CORE_H
#define CARRICK_CORE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

extern "C" {
#include "carrick/program.h"
}

namespace ns3 {

// What a core that was built with CARRICK_TRACE reports (see carrick/program.h).
struct CarrickRecord {
    uint32_t kind, number;
    std::vector<uint64_t> words;
};

class CarrickCore {
  public:
    using Done = std::function<void(const carrick_completion &)>;

    // What is around a core.
    class Host {
      public:
        virtual ~Host() = default;
        // Takes a packet that the core made, with its IPv4 header.
        virtual void Send(const uint8_t *packet, uint32_t len) = 0;
        // Takes a record, after the core has done what it reports.
        virtual void Report(const CarrickRecord &record) = 0;
    };

    // Makes a core; its memory is there until the end. The configuration's trace function is set here. `IsOpen` is
    // false if the program does not accept the configuration.
    CarrickCore(const carrick_program &program, const carrick_config &config, Host &host);
    ~CarrickCore();
    CarrickCore(const CarrickCore &) = delete;
    CarrickCore &operator=(const CarrickCore &) = delete;

    bool IsOpen() const {
        return m_core != nullptr;
    }
    const carrick_program &Program() const {
        return m_program;
    }

    // Gives the core a packet; false if it drops the packet and counts that.
    bool Receive(const uint8_t *packet, uint32_t len);

    // Makes a request; `done` is called when it completes. A token of 0 is replaced by a free one, which is returned.
    // The memory of the request's data must stay until then.
    uint64_t Call(uint32_t call, carrick_request request, Done done);

    // Makes all requests that `calls` makes before any of them completes.
    void Together(const std::function<void()> &calls);

    // Runs `notify`, which may make requests, at the end of the event of the simulation that the core handles now, a
    // packet or a timer. Returns false, and does nothing, if it handles none: an application is making a request, and
    // must return from that before it is notified of anything.
    bool AtRest(std::function<void()> notify);

    // One value for each of Program().counter_names.
    const uint64_t *Counters() const {
        return m_program.counters(m_core);
    }

    bool Identify(uint64_t handle, carrick_identity &identity) const {
        return m_program.identify(m_core, handle, &identity);
    }

  private:
    struct Ask {
        uint32_t call;
        carrick_request request;
    };

    static void Trace(void *user, uint32_t kind, uint32_t number, const uint64_t *words, uint32_t count);
    static uint64_t Now();
    void Report();
    void Rest();
    void Transmit();
    bool Requests();
    bool Completions();
    uint64_t FreeToken();
    void Pump();
    void Plan();
    void Timer();

    const carrick_program &m_program;
    Host &m_host;
    void *m_memory = nullptr;
    size_t m_size = 0;
    carrick_core *m_core = nullptr;
    std::vector<uint8_t> m_packet; // the one that is being made
    std::vector<CarrickRecord> m_records;
    std::vector<Ask> m_asks;   // requests that the core has not taken yet
    std::vector<Ask> m_asking; // those that it is given now; empty between events, for its memory
    std::vector<std::function<void()>> m_notify, m_notifying; // in the same way: what runs when the core is at rest
    std::unordered_map<uint64_t, Done> m_open;
    std::unordered_map<uint64_t, Done>::node_type m_spare; // that of the last completion, for its memory
    uint64_t m_lastToken = 0;                              // the highest that was chosen here
    std::vector<uint64_t> m_freeTokens;
    uint64_t m_timerAt = UINT64_MAX; // the earliest time for which a timer is planned
    std::shared_ptr<CarrickCore *> m_self = std::make_shared<CarrickCore *>(this); // timers end with it
    uint64_t m_now = 0;                                                            // of the event that the core handles
    bool m_pumping = false;
    bool m_inEvent = false; // whether the core handles an event of the simulation, so that it will be at rest
};

} // namespace ns3

#endif
