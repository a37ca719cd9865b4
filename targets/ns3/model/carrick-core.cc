// SPDX-License-Identifier: MIT
#include "carrick-core.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

#include "ns3/simulator.h"

namespace ns3 {

namespace {

// Buffers are only touched when they are used: the system gives zeroed pages on demand.
void *Reserve(size_t octets) {
    void *memory = mmap(nullptr, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

CarrickCore::CarrickCore(const carrick_program &program, const carrick_config &given, Host &host)
    : m_program(program), m_host(host), m_packet(given.mtu) {
    carrick_config config = given;
    config.trace = &CarrickCore::Trace;
    config.trace_user = this;
    const size_t octets = program.footprint(&config);
    m_memory = octets ? Reserve(octets) : nullptr;
    m_size = octets;
    if (m_memory) {
        m_core = program.init(m_memory, &config);
    }
}

CarrickCore::~CarrickCore() {
    if (m_memory) {
        munmap(m_memory, m_size);
    }
}

void CarrickCore::Trace(void *user, uint32_t kind, uint32_t number, const uint64_t *words, uint32_t count) {
    auto *self = static_cast<CarrickCore *>(user);
    self->m_records.push_back({kind, number, std::vector<uint64_t>(words, words + count)});
}

uint64_t CarrickCore::Now() {
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

// A record may make an application do something, so no record is shown while the core runs.
void CarrickCore::Report() {
    if (m_records.empty()) {
        return;
    }
    std::vector<CarrickRecord> records;
    records.swap(m_records);
    for (const CarrickRecord &record : records) {
        m_host.Report(record);
    }
}

bool CarrickCore::Receive(const uint8_t *packet, uint32_t len) {
    const bool outermost = !m_inEvent;
    m_inEvent = true;
    m_now = Now();
    int result;
    while ((result = m_program.rx(m_core, packet, len, m_now)) == CARRICK_AGAIN) {
        Transmit();
    }
    Pump();
    if (outermost) {
        Rest();
    }
    return result == 0;
}

// The one that was free last: where the core looks it up is still in a cache of the processor.
uint64_t CarrickCore::FreeToken() {
    if (m_freeTokens.empty()) {
        return ++m_lastToken;
    }
    const uint64_t token = m_freeTokens.back();
    m_freeTokens.pop_back();
    return token;
}

uint64_t CarrickCore::Call(uint32_t call, carrick_request request, Done done) {
    if (request.token == 0) {
        request.token = FreeToken();
    }
    if (m_spare) {
        m_spare.key() = request.token;
        m_spare.mapped() = std::move(done);
        m_open.insert(std::move(m_spare));
    } else {
        m_open[request.token] = std::move(done);
    }
    m_asks.push_back({call, request});
    if (!m_pumping) {
        Pump();
    }
    return request.token;
}

void CarrickCore::Together(const std::function<void()> &calls) {
    if (m_pumping) {
        calls();
        return;
    }
    m_pumping = true;
    calls();
    Pump();
}

void CarrickCore::Transmit() {
    const auto most = static_cast<uint32_t>(m_packet.size());
    while (const uint32_t len = m_program.tx(m_core, m_packet.data(), most, m_now)) {
        Report();
        m_host.Send(m_packet.data(), len);
    }
}

// True if there was a request, and all were taken.
bool CarrickCore::Requests() {
    if (m_asks.empty()) {
        return false;
    }
    m_asking.swap(m_asks);
    size_t refused = 0;
    for (size_t i = 0; i < m_asking.size(); ++i) {
        const Ask ask = m_asking[i];
        const int result = m_program.call(m_core, ask.call, &ask.request, m_now);
        if (result == CARRICK_AGAIN) {
            m_asking[refused++] = ask;
            continue;
        }
        if (result == CARRICK_BAD_ARG) {
            m_open.erase(ask.request.token);
        }
        Report();
    }
    m_asks.insert(m_asks.begin(), m_asking.begin(), m_asking.begin() + static_cast<std::ptrdiff_t>(refused));
    m_asking.clear();
    return refused == 0;
}

bool CarrickCore::Completions() {
    bool any = false;
    carrick_completion completion;
    while (m_program.next_completion(m_core, &completion)) {
        any = true;
        m_spare = m_open.extract(completion.token);
        if (!m_spare) {
            continue;
        }
        const Done done = std::move(m_spare.mapped());
        if (completion.token <= m_lastToken) {
            m_freeTokens.push_back(completion.token);
        }
        if (done) {
            done(completion);
        }
    }
    return any;
}

void CarrickCore::Pump() {
    m_pumping = true;
    m_now = Now();
    for (bool busy = true; busy;) {
        Report();
        Transmit();
        const bool asked = Requests();
        const bool completed = Completions();
        busy = asked || completed;
    }
    m_pumping = false;
    Plan();
}

bool CarrickCore::AtRest(std::function<void()> notify) {
    if (m_inEvent) {
        m_notify.push_back(std::move(notify));
    }
    return m_inEvent;
}

// Who is notified may make requests, of which there is more to notify.
void CarrickCore::Rest() {
    while (!m_notify.empty()) {
        m_notifying.swap(m_notify);
        for (const auto &notify : m_notifying) {
            notify();
        }
        m_notifying.clear();
    }
    m_inEvent = false;
}

// A timer that is planned is not cancelled when its time is put off: it then finds nothing due, and plans the next one.
void CarrickCore::Plan() {
    const uint64_t deadline = m_program.next_deadline(m_core, m_timerAt);
    if (deadline == CARRICK_NEVER) {
        return;
    }
    const uint64_t due = std::max(deadline, m_now);
    if (due >= m_timerAt) {
        return;
    }
    m_timerAt = due;
    std::weak_ptr<CarrickCore *> alive = m_self;
    Simulator::Schedule(NanoSeconds(static_cast<int64_t>(due - m_now)), [alive] {
        if (const auto core = alive.lock()) {
            (*core)->Timer();
        }
    });
}

void CarrickCore::Timer() {
    if (m_timerAt != Now()) {
        return; // another timer of this time was planned too, and has done what was due
    }
    m_timerAt = UINT64_MAX;
    m_inEvent = true;
    m_now = Now();
    while (m_program.advance(m_core, m_now) == CARRICK_AGAIN) {
        Transmit();
    }
    Pump();
    Rest();
}

} // namespace ns3
