// SPDX-License-Identifier: MIT
// A run of the simulator as ns-3 replays it: a sequence of words of 64 bits, in the machine's byte order, from a file.
#ifndef CARRICK_SCRIPT_H
#define CARRICK_SCRIPT_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3 {

// A request of an application, or the wish to be woken.
struct ScriptAsk {
    enum Kind : uint64_t { CALL = 0, WAKE = 1, NOTHING = 2 };
    enum Data : uint64_t { NONE = 0, SEND = 1, RECV = 2, SHARED = 3 };
    Kind kind;
    uint64_t at; // of WAKE
    uint64_t call, handle, token;
    std::vector<uint64_t> args;
    Data data;
    std::vector<uint8_t> octets; // what it sends, or space for what it receives
};

struct ScriptHost {
    uint64_t seed, address, mtu, requests;
    std::vector<uint64_t> params;
    // What the application asks for when something reaches it: its start, a time, a completion.
    std::vector<std::vector<ScriptAsk>> reactions;
};

struct ScriptFault {
    uint64_t packet, late, copy, mtu;
};

struct Script {
    ScriptHost hosts[2];
    uint64_t rateBps, delayNs, queuePackets;
    std::vector<ScriptFault> faults[2];
    uint64_t endNs;
};

// Reads a script; ends the process with a sentence if the file is none.
Script ReadScript(const std::string &path);

} // namespace ns3

#endif
