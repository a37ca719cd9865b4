// SPDX-License-Identifier: MIT
#include "carrick-verbs.h"

#include <algorithm>

#include "ns3/enum.h"
#include "ns3/simulator.h"

namespace ns3 {

namespace {

constexpr uint32_t FIRST_PAIR = 16;     // smaller numbers have a meaning of their own (InfiniBand 3.5.10)
constexpr uint32_t WORKS = 32;          // requests that are posted, fewer than there are slots
constexpr uint32_t RECEIVES = 32;       // receives that are posted
constexpr uint64_t WITH_IMM = 1u << 31; // in what a receive completes with
static_assert(WORKS < CarrickQueuePair::SLOTS);

// Clients whose server has not started, and servers.
std::vector<CarrickVerbsClient *> g_clients;
std::vector<CarrickVerbsServer *> g_servers;

template <typename T> void Forget(std::vector<T *> &all, T *one) {
    all.erase(std::remove(all.begin(), all.end(), one), all.end());
}

} // namespace

uint32_t CarrickQueuePair::Number() const {
    return FIRST_PAIR + client;
}

uint32_t CarrickQueuePair::FirstPacket(bool ofClient) const {
    return ((2 * client + ofClient + 1) * 0x9e3779b1) >> 8;
}

uint32_t CarrickQueuePair::Key(bool written) const {
    return client << 1 | written;
}

CarrickPayload CarrickQueuePair::Slot(uint32_t number, uint32_t size) const {
    CarrickPayload slot;
    slot.response = true;
    slot.client = client;
    slot.number = number % SLOTS;
    slot.size = size;
    return slot;
}

TypeId CarrickVerbsClient::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickVerbsClient")
                             .SetParent<CarrickClient>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickVerbsClient>()
                             .AddAttribute("Operation", "What a request is", EnumValue(SEND),
                                           MakeEnumAccessor(&CarrickVerbsClient::m_operation),
                                           MakeEnumChecker(SEND, "Send", WRITE, "Write", READ, "Read"));
    return type;
}

CarrickVerbsClient::~CarrickVerbsClient() {
    Forget(g_clients, this);
}

uint32_t CarrickVerbsClient::Most() const {
    return WORKS;
}

void CarrickVerbsClient::Open() {
    for (CarrickVerbsServer *server : g_servers) {
        if (server->Serves(*this)) {
            server->Meet(this);
            return;
        }
    }
    g_clients.push_back(this);
}

void CarrickVerbsClient::Join(uint32_t slot) {
    m_slot = slot;
    const CarrickQueuePair pair = Pair();
    Ask("open", 0,
        {{"local_qp", pair.Number()},
         {"remote_ip", Remote().GetIpv4().Get()},
         {"remote_qp", pair.Number()},
         {"send_psn", pair.FirstPacket(true)},
         {"recv_psn", pair.FirstPacket(false)}},
        {}, [this](const carrick_completion &done) {
            m_pair = done.value;
            Opened(done.status);
        });
}

void CarrickVerbsClient::Close() {
    Ask("close", m_pair, {}, {}, nullptr);
}

void CarrickVerbsClient::Begin(const CarrickPayload &request) {
    if (request.size > m_slot) {
        Failed(request.number, "longer than the server's MaxRequestSize");
        return;
    }
    const uint64_t at = CarrickQueuePair::ADDRESS + CarrickQueuePair::At(request.number, m_slot);
    const uint32_t key = Pair().Key(m_operation == WRITE);
    Data data{std::make_shared<std::vector<uint8_t>>(request.Bytes()), m_operation == READ};
    const auto done = [this, request, bytes = data.bytes](const carrick_completion &completion) {
        Worked(request, *bytes, completion);
    };
    static const char *const calls[] = {"post_send", "post_write", "post_read"};
    const bool withImm = m_operation == WRITE;
    Ask(calls[m_operation], m_pair,
        {{"len", request.size}, {"key", key}, {"addr", at}, {"with_imm", withImm}, {"imm", request.number}}, data,
        done);
}

void CarrickVerbsClient::Worked(const CarrickPayload &request, const std::vector<uint8_t> &bytes,
                                const carrick_completion &done) {
    if (done.status != CARRICK_OK) {
        Ended(request, done.status);
        return;
    }
    bool right = done.value == request.size;
    if (m_operation == READ) {
        const std::vector<uint8_t> slot = Pair().Slot(request.number, m_slot).Bytes();
        right = right && std::equal(bytes.begin(), bytes.end(), slot.begin());
    }
    if (right) {
        Completed(request.number, m_operation == READ ? request.size : 0);
    } else {
        Failed(request.number, "contents differ from those in the server's memory");
    }
}

TypeId CarrickVerbsServer::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickVerbsServer")
                             .SetParent<CarrickServer>()
                             .SetGroupName("Carrick")
                             .AddConstructor<CarrickVerbsServer>();
    return type;
}

CarrickVerbsServer::~CarrickVerbsServer() {
    Forget(g_servers, this);
}

bool CarrickVerbsServer::Serves(CarrickVerbsClient &client) {
    return client.Remote().GetIpv4() == Protocol().GetAddress() && client.Remote().GetPort() == Port() &&
           &client.Protocol().Program() == &Protocol().Program();
}

void CarrickVerbsServer::Open() {
    g_servers.push_back(this);
    const std::vector<CarrickVerbsClient *> waiting = g_clients;
    for (CarrickVerbsClient *client : waiting) {
        if (Serves(*client)) {
            Forget(g_clients, client);
            Meet(client);
        }
    }
}

void CarrickVerbsServer::Close(uint64_t) {
    Forget(g_servers, this);
    for (const std::shared_ptr<End> &end : m_ends) {
        Ask("close", end->handle, {}, {}, nullptr);
        for (const bool written : {false, true}) {
            Ask("deregister", 0, {{"key", end->pair.Key(written)}}, {}, nullptr);
        }
    }
    m_ends.clear();
}

void CarrickVerbsServer::Meet(Ptr<CarrickVerbsClient> client) {
    Simulator::ScheduleWithContext(GetNode()->GetId(), Time(0), &CarrickVerbsServer::Join,
                                   Ptr<CarrickVerbsServer>(this), client);
}

// Opens the server's end, and then lets the client open its own.
void CarrickVerbsServer::Join(Ptr<CarrickVerbsClient> client) {
    const auto end = std::make_shared<End>();
    end->pair = client->Pair();
    m_ends.push_back(end);
    end->written = std::make_shared<std::vector<uint8_t>>(CarrickQueuePair::SLOTS * Longest());
    end->read = std::make_shared<std::vector<uint8_t>>();
    for (uint32_t number = 0; number < CarrickQueuePair::SLOTS; ++number) {
        const std::vector<uint8_t> slot = end->pair.Slot(number, Longest()).Bytes();
        end->read->insert(end->read->end(), slot.begin(), slot.end());
    }
    Register(*end, true);
    Register(*end, false);
    Ask("open", 0,
        {{"local_qp", end->pair.Number()},
         {"remote_ip", client->Protocol().GetAddress().Get()},
         {"remote_qp", end->pair.Number()},
         {"send_psn", end->pair.FirstPacket(false)},
         {"recv_psn", end->pair.FirstPacket(true)}},
        {}, [this, end, client](const carrick_completion &done) { Joined(end, client, done); });
}

void CarrickVerbsServer::Joined(const std::shared_ptr<End> &end, Ptr<CarrickVerbsClient> client,
                                const carrick_completion &done) {
    if (done.status != CARRICK_OK) {
        Failed(std::string("cannot serve: ") + CarrickCall::Reason(done.status));
        return;
    }
    end->handle = done.value;
    for (uint32_t i = 0; i < RECEIVES; ++i) {
        Receive(end);
    }
    Simulator::ScheduleWithContext(client->GetNode()->GetId(), Time(0), &CarrickVerbsClient::Join, client, Longest());
}

void CarrickVerbsServer::Register(const End &end, bool written) {
    const Bytes &bytes = written ? end.written : end.read;
    Ask("register", 0,
        {{"len", bytes->size()},
         {"key", end.pair.Key(written)},
         {"addr", CarrickQueuePair::ADDRESS},
         {"may_read", !written},
         {"may_write", written}},
        {bytes, true}, [this](const carrick_completion &done) {
            if (done.status != CARRICK_OK) {
                Failed(std::string("cannot register memory: ") + CarrickCall::Reason(done.status));
            }
        });
}

void CarrickVerbsServer::Receive(const std::shared_ptr<End> &end) {
    const auto bytes = std::make_shared<std::vector<uint8_t>>(Longest());
    Ask("post_recv", end->handle, {{"len", bytes->size()}}, {bytes, true},
        [this, end, bytes](const carrick_completion &done) {
            if (done.status == CARRICK_OK) {
                Received(*end, *bytes, done.value);
                Receive(end);
            }
        });
}

// A SEND has brought bytes, or a WRITE has put them in memory and its immediate is the number of the request.
void CarrickVerbsServer::Received(const End &end, std::vector<uint8_t> &bytes, uint64_t value) {
    const auto immediate = static_cast<uint32_t>(value >> 32);
    if (value & WITH_IMM) {
        const uint8_t *slot = end.written->data() + CarrickQueuePair::At(immediate, Longest());
        bytes.assign(slot, slot + std::min(CarrickPayload::SizeAt(slot), Longest()));
    } else {
        bytes.resize(value);
    }
    CarrickPayload request;
    if (!Arrived(bytes, request)) {
        return;
    }
    if (request.client != end.pair.client || ((value & WITH_IMM) && request.number != immediate)) {
        Failed("contents are of another request");
    }
}

} // namespace ns3
