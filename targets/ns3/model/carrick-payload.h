// SPDX-License-Identifier: MIT
// Contents of requests, responses and memory that the other end can check byte by byte: a head that names them, and
// bytes that follow from the head.
#ifndef CARRICK_PAYLOAD_H
#define CARRICK_PAYLOAD_H

#include <cstdint>
#include <vector>

namespace ns3 {

struct CarrickPayload {
    static constexpr uint32_t HEAD = 16; // bytes; no contents are shorter

    // Whether these are a response, and not a request.
    bool response = false;
    uint32_t client = 0; // number of the application that makes the request
    uint32_t number = 0; // of the request
    uint32_t size = 0;   // bytes of these contents, at least HEAD
    uint32_t answer = 0; // bytes that the response to this request must have

    // The contents.
    std::vector<uint8_t> Bytes() const;
    // How many bytes contents have, by their head.
    static uint32_t SizeAt(const uint8_t *head);
    // Reads the head of contents. Returns false if any byte is not what follows from it.
    bool Read(const std::vector<uint8_t> &bytes);
};

} // namespace ns3

#endif
