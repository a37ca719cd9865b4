// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets in a row through the modules of packets, with gaps and with a port that does not always take a beat, against
// what a model says; and how often packets follow each other without any of that. LANES is the bytes of a beat.
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "Vpassing.h"
#include "clocked.h"

namespace {

constexpr unsigned mtu = 150;
// Half of the beats in the store.
constexpr std::size_t longest = 32;
constexpr unsigned came = 0x100;
constexpr unsigned made = 0x200;

using Octets = std::vector<std::uint8_t>;

struct Packet {
    Octets octets;
    unsigned user;
};

struct Model {
    std::deque<Packet> expected;
    std::uint16_t identification = 0;
    unsigned too_long = 0;
    // Packets that are not sent: too long, with a field out of range, decided on before.
    std::array<unsigned, 3> unsent = {};

    static std::uint16_t sum(const Octets &packet) {
        const std::size_t total = packet.size() < 4 ? 0 : packet[2] << 8 | packet[3];
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < packet.size() && i < total; i++)
            sum += i % 2 ? packet[i] : packet[i] << 8;
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        return static_cast<std::uint16_t>(sum);
    }

    void make(const Octets &packet, bool with_payload) {
        if (with_payload && packet.size() + 2 > mtu) {
            unsent[0]++;
            return;
        }
        Octets all;
        for (const unsigned word :
             {unsigned{identification}, static_cast<unsigned>(packet.size() - 4), unsigned{sum(packet)}}) {
            all.push_back(static_cast<std::uint8_t>(word >> 8));
            all.push_back(static_cast<std::uint8_t>(word));
        }
        if (with_payload)
            all.insert(all.end(), packet.begin() + 4, packet.end());
        identification++;
        expected.push_back({all, made | (with_payload ? came : 0U) | 9U});
    }

    void pass(const Octets &packet, unsigned interface) {
        if (packet.size() <= mtu)
            expected.push_back({packet, came | interface});
        else
            unsent[0]++;
    }

    void arrives(const Octets &packet) {
        const unsigned verdict = packet[0] & 3;
        const unsigned what = packet[1];
        const bool fits = (packet.size() + LANES - 1) / LANES < longest;
        too_long += !fits;
        if (verdict == 0 || verdict == 3 || !fits)
            return;
        if (verdict == 1 || what == 0) {
            pass(packet, 255);
        } else if (what == 3) {
            pass(packet, 9);
        } else if (what == 4) {
            make(packet, false);
            make(packet, false);
            pass(packet, 255);
        } else if (what == 2) {
            make(packet, true);
        } else if (what == 5) {
            make(packet, false);
            expected.back().user |= came;
            unsent[2]++;
        } else if (what == 6) {
            unsent[1]++;
        }
    }
};

class Bench {
  public:
    explicit Bench(unsigned stalls) : stalls(stalls) {
        reset(module);
        module.mtu = mtu;
    }

    // Cycles until all packets are done with.
    long run(const std::vector<Octets> &packets, Model &model) {
        std::size_t at = 0;
        std::size_t from = 0;
        std::size_t done = 0;
        Packet out{{}, 0};
        long cycles = 0;
        unsigned too_long = 0;
        std::array<unsigned, 3> unsent = {};
        for (; done < packets.size(); cycles++) {
            CHECK(cycles < 1'000'000);
            if (!module.s_valid && at < packets.size() && random() % 10 >= stalls)
                offer(packets[at], from);
            module.m_ready = random() % 10 >= stalls;
            settle(module);
            const bool taken = module.s_valid && module.s_ready;
            done += module.packet_done;
            too_long += module.looked_long;
            for (unsigned n = 0; n < unsent.size(); n++)
                unsent[n] += module.unsent >> n & 1;
            if (module.m_valid && module.m_ready)
                take(out, model);
            edge(module);
            if (taken) {
                module.s_valid = 0;
                from += LANES;
                if (from >= packets[at].size()) {
                    model.arrives(packets[at++]);
                    from = 0;
                }
                if (at < packets.size() && stalls == 0)
                    offer(packets[at], from);
            }
        }
        CHECK(model.expected.empty() && out.octets.empty() && too_long == model.too_long && unsent == model.unsent);
        return cycles;
    }

  private:
    void offer(const Octets &packet, std::size_t from) {
        const std::size_t count = packet.size() - from < LANES ? packet.size() - from : LANES;
        std::memset(&module.s_data, 0, sizeof module.s_data);
        std::memcpy(&module.s_data, packet.data() + from, count);
        module.s_keep = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
        module.s_last = from + count == packet.size();
        module.s_valid = 1;
    }

    void take(Packet &out, Model &model) {
        std::uint8_t octets[LANES];
        std::memcpy(octets, &module.m_data, LANES);
        for (unsigned lane = 0; lane < LANES; lane++)
            if (module.m_keep >> lane & 1)
                out.octets.push_back(octets[lane]);
        CHECK(module.m_last || out.octets.size() % LANES == 0);
        if (!module.m_last)
            return;
        CHECK(!model.expected.empty());
        CHECK(out.octets == model.expected.front().octets);
        CHECK(module.m_user == model.expected.front().user);
        model.expected.pop_front();
        out.octets.clear();
    }

    Vpassing module;
    std::mt19937 random{2};
    unsigned stalls;
};

std::vector<Octets> any(unsigned count) {
    std::mt19937 random(1);
    std::vector<Octets> packets(count);
    for (Octets &packet : packets) {
        packet.resize(random() % 20 ? 5 + random() % 195 : 5 + random() % 800);
        for (std::uint8_t &octet : packet)
            octet = static_cast<std::uint8_t>(random());
        packet[1] = random() % 7;
        const std::size_t total = random() % 3 ? packet.size() : random() % 300;
        packet[2] = static_cast<std::uint8_t>(total >> 8);
        packet[3] = static_cast<std::uint8_t>(total);
    }
    return packets;
}

} // namespace

int main() {
    for (const unsigned stalls : {0U, 3U, 7U}) {
        Model model;
        Bench(stalls).run(any(3000), model);
    }
    constexpr int many = 1000;
    Model model;
    const std::vector<Octets> packets(many, Octets(64, 1));
    const double each = static_cast<double>(Bench(0).run(packets, model)) / many;
    std::printf("passing: a packet of 64 octets in %.1f cycles, in beats of %u octets\n", each, LANES);
    return 0;
}
