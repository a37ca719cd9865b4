// SPDX-License-Identifier: MIT
// The check of contents sees each wrong byte, and contents that are cut or of another request. Needs no ns-3.
#include <cstdio>
#include <cstdlib>

#include "carrick-payload.h"

using ns3::CarrickPayload;

namespace {

void Must(bool right, const char *what, unsigned size) {
    if (!right) {
        std::fprintf(stderr, "payload: %s, of %u bytes\n", what, size);
        std::exit(EXIT_FAILURE);
    }
}

void Check(uint32_t size) {
    CarrickPayload sent;
    sent.client = 3;
    sent.number = 70000;
    sent.size = size;
    sent.answer = 500;
    std::vector<uint8_t> bytes = sent.Bytes();
    CarrickPayload read;
    Must(bytes.size() == size && CarrickPayload::SizeAt(bytes.data()) == size, "wrong size", size);
    Must(read.Read(bytes) && read.client == 3 && read.number == 70000 && read.answer == 500 && !read.response,
         "right contents are refused", size);
    // A wrong head is seen by the bytes that follow, if there are enough of them.
    const bool shorter = size < CarrickPayload::HEAD + sizeof(uint64_t);
    for (size_t at = shorter ? CarrickPayload::HEAD : 0; at < size; ++at) {
        bytes[at] ^= 0x10;
        Must(!read.Read(bytes), "a wrong byte is not seen", size);
        bytes[at] ^= 0x10;
    }
    sent.response = true;
    Must(size == CarrickPayload::HEAD || sent.Bytes().at(CarrickPayload::HEAD) != bytes.at(CarrickPayload::HEAD),
         "a response is like its request", size);
    bytes.pop_back();
    Must(!read.Read(bytes), "cut contents are not seen", size);
}

} // namespace

int main() {
    for (const uint32_t size : {16u, 17u, 24u, 25u, 1000u, 1001u}) {
        Check(size);
    }
    return EXIT_SUCCESS;
}
