// SPDX-License-Identifier: MIT
#include "carrick-payload.h"

#include <algorithm>
#include <cstring>

namespace ns3 {

namespace {

constexpr uint32_t RESPONSE = 1u << 31;

// The next number of a sequence (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
uint64_t Next(uint64_t &state) {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

} // namespace

std::vector<uint8_t> CarrickPayload::Bytes() const {
    const uint32_t head[] = {client, number, size, answer | (response ? RESPONSE : 0)};
    static_assert(sizeof head == HEAD);
    std::vector<uint8_t> bytes(std::max(size, HEAD));
    std::memcpy(bytes.data(), head, HEAD);
    uint64_t state = static_cast<uint64_t>(client) << 32 | number;
    for (const uint32_t part : {size, answer, static_cast<uint32_t>(response)}) {
        state = Next(state) ^ part;
    }
    for (size_t at = HEAD; at < bytes.size();) {
        const uint64_t word = Next(state);
        const size_t len = std::min(sizeof word, bytes.size() - at);
        std::memcpy(bytes.data() + at, &word, len);
        at += len;
    }
    return bytes;
}

uint32_t CarrickPayload::SizeAt(const uint8_t *head) {
    uint32_t words[HEAD / sizeof(uint32_t)];
    std::memcpy(words, head, HEAD);
    return words[2];
}

bool CarrickPayload::Read(const std::vector<uint8_t> &bytes) {
    if (bytes.size() < HEAD) {
        return false;
    }
    uint32_t head[4];
    std::memcpy(head, bytes.data(), HEAD);
    client = head[0];
    number = head[1];
    size = head[2];
    answer = head[3] & ~RESPONSE;
    response = head[3] & RESPONSE;
    return size == bytes.size() && Bytes() == bytes;
}

} // namespace ns3
