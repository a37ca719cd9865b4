/* SPDX-License-Identifier: MIT */
/* Published vectors and small models: randomness, checksums, tables, bit fields, arithmetic. */
#include "carrick/crc32.h"
#include "carrick/report.h"
#include "carrick/table.h"
#include "carrick/varint.h"
#include "check.h"

static void pcg(void) {
    /* pcg32-demo of the PCG library: seed 42, stream 54. */
    static const uint32_t expected[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
    struct carrick_pcg rng = carrick_pcg_make(42, 54);
    for (int i = 0; i < 6; i++)
        CHECK(carrick_pcg_next(&rng) == expected[i]);
}

static void siphash(void) {
    /* The reference implementation's vectors for 0, 8 and 16 bytes 00 01 02 ..., key 00 01 ... 0f. */
    struct carrick_key key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    const uint64_t words[] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    CHECK(carrick_siphash(key, words, 0) == 0x726fdb47dd0e0e31u);
    CHECK(carrick_siphash(key, words, 1) == 0x93f5f5799a932462u);
    CHECK(carrick_siphash(key, words, 2) == 0x3f2acc7f57c29bdbu);
}

/* The definition, bit by bit. */
static uint32_t plain_crc32(uint32_t crc, const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n * 8; i++) {
        uint32_t bit = (crc ^ (uint32_t)p[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? 0xedb88320u : 0);
    }
    return crc;
}

/* Any bytes, anywhere in memory, in any two pieces, begun with anything: by tables, by products, by what chooses. */
static void crc32_pieces(struct carrick_pcg *rng) {
    static uint8_t octets[2048];
    for (size_t i = 0; i < sizeof octets; i++)
        octets[i] = (uint8_t)carrick_pcg_next(rng);
    for (uint32_t run = 0; run < 1500; run++) {
        /* Each short length, where one way gives over to the next; then any. */
        uint32_t n = run < 400 ? run : check_below(rng, sizeof octets - 64), cut = check_below(rng, n + 1);
        const uint8_t *p = octets + check_below(rng, 64);
        uint32_t start = carrick_pcg_next(rng), wanted = plain_crc32(start, p, n);
        CHECK(carrick_crc32(carrick_crc32(start, p, cut), p + cut, n - cut) == wanted);
        CHECK(carrick_crc32(start, p, n) == wanted);
        CHECK(carrick_crc32_base(start, p, n) == wanted);
        if (n >= 64 && CARRICK_CRC32_HAS_WIDE())
            CHECK(carrick_crc32_wide(start, p, n) == wanted);
    }
}

static void crc32(void) {
    /* The check value of the catalogue of CRCs. */
    CHECK(~carrick_crc32(CARRICK_CRC32_START, (const uint8_t *)"123456789", 9) == 0xcbf43926u);
    struct carrick_pcg rng = carrick_pcg_make(1, 6);
    crc32_pieces(&rng);
    uint8_t ones[64];
    memset(ones, 0xff, sizeof ones);
    for (uint32_t n = 0; n <= sizeof ones; n++)
        CHECK(carrick_crc32_ones(CARRICK_CRC32_START, n) == plain_crc32(CARRICK_CRC32_START, ones, n));
    uint8_t stored[4];
    carrick_crc32_store(stored, 0x01020304);
    CHECK(stored[0] == 4 && stored[3] == 1 && carrick_crc32_load(stored) == 0x01020304);
}

static void varint(void) {
    /* RFC 9000 appendix A.1. */
    static const uint8_t octets[] = {0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c,
                                     0x9d, 0x7f, 0x3e, 0x7d, 0x7b, 0xbd, 0x25};
    static const uint64_t values[] = {151288809941952652u, 494878333u, 15293u, 37u};
    static const uint32_t lens[] = {8, 4, 2, 1};
    const uint8_t *p = octets;
    for (int i = 0; i < 4; p += lens[i], i++) {
        uint64_t v = 7;
        uint8_t out[8];
        for (uint32_t room = 0; room < lens[i]; room++)
            CHECK(carrick_varint_load(p, room, &v) == 0 && v == 7);
        CHECK(carrick_varint_load(p, lens[i], &v) == lens[i] && v == values[i]);
        CHECK(carrick_varint_len(v) == lens[i] && carrick_varint_store(out, v) == lens[i]);
        CHECK(memcmp(out, p, lens[i]) == 0);
        CHECK(carrick_varint_store(out, v | 3ull << 62) == lens[i] && memcmp(out, p, lens[i]) == 0);
    }
    /* Where the lengths change. */
    for (uint32_t bits = 6; bits <= 30; bits = 2 * bits + 2) {
        uint64_t first = 1ull << bits;
        CHECK(carrick_varint_len(first - 1) * 2 == carrick_varint_len(first));
    }
    CHECK(carrick_varint_len(CARRICK_VARINT_MAX) == 8);
}

static uint16_t plain_sum(const uint8_t *p, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint32_t)p[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void checksum(void) {
    struct carrick_pcg rng = carrick_pcg_make(1, 5);
    uint8_t octets[2048 + 8], copy[2048], stored[2];
    for (uint32_t n = 0; n < 2048; n++) {
        uint32_t at = check_below(&rng, 8);
        for (uint32_t i = 0; i < n; i++)
            octets[at + i] = check_below(&rng, 3) ? (uint8_t)carrick_pcg_next(&rng) : 0xff;
        carrick_store_sum(stored, carrick_sum(octets + at, n));
        CHECK(carrick_load16(stored) == plain_sum(octets + at, n));
        uint32_t cut = n ? check_below(&rng, n) : 0;
        uint64_t second = carrick_copy_sum(copy + cut, octets + at + cut, n - cut);
        carrick_store_sum(stored, carrick_sum_join(carrick_copy_sum(copy, octets + at, cut), cut, second));
        CHECK(carrick_load16(stored) == plain_sum(octets + at, n) && memcmp(copy, octets + at, n) == 0);
        carrick_store_sum(stored, carrick_sum_base(octets + at, n));
        CHECK(carrick_load16(stored) == plain_sum(octets + at, n));
    }
    static const uint8_t pseudo[] = {10, 0, 0, 1, 192, 168, 255, 254, 0, 17, 5, 220};
    CHECK(carrick_sum_16(carrick_sum_pseudo(0x0a000001, 0xc0a8fffe, 17, 1500)) ==
          carrick_sum_16(carrick_sum(pseudo, sizeof pseudo)));
}

static void ip(void) {
    uint8_t p[40] = {0};
    struct carrick_ip made = {.src = 0x0a000001, .dst = 0x0a000002, .protocol = 253, .ttl = 9, .tos = 3};
    struct carrick_ip got;
    carrick_ip_build(p, &made, 20, 7);
    CHECK(carrick_ip_parse(p, sizeof p, 0x0a000002, 253, &got) == 20);
    CHECK(got.src == made.src && got.dst == made.dst && got.payload_len == 20 && got.ttl == 9 && got.tos == 3);
    CHECK(carrick_ip_parse(p, 39, 0x0a000002, 253, &got) == -1 - CARRICK_COUNT_IP_LENGTH);
    CHECK(carrick_ip_parse(p, 19, 0x0a000002, 253, &got) == -1 - CARRICK_COUNT_IP_SHORT);
    CHECK(carrick_ip_parse(p, sizeof p, 0x0a000003, 253, &got) == -1 - CARRICK_COUNT_IP_ADDRESS);
    CHECK(carrick_ip_parse(p, sizeof p, 0x0a000002, 6, &got) == -1 - CARRICK_COUNT_IP_PROTOCOL);
    for (uint32_t bit = 0; bit < 160; bit++) {
        p[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        CHECK(carrick_ip_parse(p, sizeof p, 0x0a000002, 253, &got) < 0);
        p[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

/* Insertions and removals in a small table with many collisions: every slot stays reachable. */
static void table(void) {
    struct carrick_pcg rng = carrick_pcg_make(2, 6);
    struct carrick_entry entries[32] = {0};
    struct carrick_table t = {entries, 31};
    bool in[16] = {false};
    uint32_t hashes[16];
    for (int step = 0; step < 20000; step++) {
        uint32_t slot = check_below(&rng, 16);
        if (in[slot]) {
            carrick_table_remove(&t, hashes[slot], slot);
        } else {
            hashes[slot] = check_below(&rng, 5) * 7;
            carrick_table_insert(&t, hashes[slot], slot);
        }
        in[slot] = !in[slot];
        for (uint32_t s = 0; s < 16; s++) {
            bool found = false;
            for (uint32_t at = hashes[s] & 31; in[s] && entries[at].slot; at = (at + 1) & 31)
                found |= entries[at].slot == s + 1;
            CHECK(!in[s] || found);
        }
    }
}

static void arithmetic(void) {
    CHECK(carrick_div_u(7, 0) == 0 && carrick_rem_u(7, 0) == 7);
    CHECK(carrick_div_s(INT64_MIN, -1) == INT64_MIN && carrick_rem_s(INT64_MIN, -1) == 0);
    CHECK(carrick_shl64(1, 64) == 0 && carrick_shl32(1, 32) == 0 && carrick_shl32(3, 31) == 0x80000000u);
    CHECK(carrick_shr64(UINT64_MAX, 64) == 0 && carrick_shr32(255, 8) == 0 && carrick_shr32(255, UINT64_MAX) == 0);
    CHECK(carrick_shr_s(-1, 200) == -1 && carrick_shr_s(5, 200) == 0);
    CHECK(carrick_seq_lt(UINT32_MAX, 0) && carrick_seq_lt(0, 0x80000000u) && carrick_seq_lt(0x80000000u, 0));
    CHECK(carrick_bytes_per_rate(1500, 12000) == 1000000000 && carrick_bytes_per_rate(1, 0) == 0);
    CHECK(carrick_rate_times_duration(8, -1) == 0);
    CHECK(carrick_bytes_per_duration(1500, 1000000) == 12000000 && carrick_bytes_per_duration(1, 0) == 0 &&
          carrick_bytes_per_duration(1, -1) == 0);
    uint8_t p[4] = {0};
    carrick_store_bits(p, 5, 13, 0x1555);
    CHECK(carrick_load_bits(p, 5, 13) == 0x1555 && carrick_load_bits(p, 0, 5) == 0 &&
          carrick_load_bits(p, 18, 14) == 0);
}

/* A report of an MTU of 1000 about a packet from 1 to 2 of protocol 253, as RFC 792 draws it: 20, 8, 20 and 8 bytes.
 */
static uint32_t make_report(uint8_t *out) {
    struct carrick_ip outer = {.src = 3, .dst = 1, .protocol = 1, .ttl = 64};
    struct carrick_ip inner = {.src = 1, .dst = 2, .protocol = 253, .ttl = 5, .tos = 4};
    memset(out, 0, 56);
    carrick_ip_build(out, &outer, 36, 0);
    out[20] = 3;
    out[21] = 4;
    carrick_store16(out + 26, 1000);
    carrick_ip_build(out + 28, &inner, 1480, 7);
    carrick_store_sum(out + 22, carrick_sum(out + 20, 36));
    return 56;
}

static int read_report(const uint8_t *octets, uint32_t len, struct carrick_ip *ip, struct carrick_quoted *quoted) {
    /* Of exactly its size, so that a sanitizer sees one byte too many. */
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, octets, len);
    int begin = carrick_report_parse(copy, len, 1, 253, ip, quoted);
    free(copy);
    return begin;
}

static void reports(void) {
    struct carrick_pcg rng = carrick_pcg_make(4, 4);
    uint8_t octets[56];
    struct carrick_ip ip;
    struct carrick_quoted quoted;
    uint32_t whole = make_report(octets);
    CHECK(read_report(octets, whole, &ip, &quoted) == 28);
    CHECK(quoted.kind == 4 && quoted.mtu == 980 && quoted.from == 3 && quoted.header == 20 && quoted.len == 8);
    CHECK(ip.src == 1 && ip.dst == 2 && ip.payload_len == 1480 && ip.ttl == 5 && ip.tos == 4);
    for (uint32_t len = 0; len < whole; len++) {
        /* Cut by the network, and cut with the right length and checksums. */
        make_report(octets);
        CHECK(read_report(octets, len, &ip, &quoted) < 0);
        if (len < 20)
            continue;
        struct carrick_ip outer = {.src = 3, .dst = 1, .protocol = 1, .ttl = 64};
        carrick_ip_build(octets, &outer, len - 20, 0);
        if (len >= 24) {
            carrick_store16(octets + 22, 0);
            carrick_store_sum(octets + 22, carrick_sum(octets + 20, len - 20));
        }
        CHECK(read_report(octets, len, &ip, &quoted) == -1 - CARRICK_COUNT_SHORT);
    }
    for (uint32_t run = 0; run < 20000; run++) {
        make_report(octets);
        octets[20 + carrick_pcg_next(&rng) % 30] = (uint8_t)carrick_pcg_next(&rng);
        carrick_store16(octets + 22, 0);
        carrick_store_sum(octets + 22, carrick_sum(octets + 20, 36));
        int begin = read_report(octets, whole, &ip, &quoted);
        CHECK(begin < 0 || (quoted.kind <= 9 && 28 + quoted.header + quoted.len <= whole && quoted.len >= 8));
    }
}

/* Memory of a core that is over serves another one, whose arrays begin elsewhere. */
static void placed_again(void) {
    static uint8_t memory[4096];
    size_t at = 0;
    (void)carrick_place(memory, &at, 100);
    (void)carrick_place(memory, &at, 100);
    at = 0;
    uint8_t *all = carrick_place(memory, &at, 1000);
    memset(all, 1, 1000);
    CHECK(all[999] == 1);
    CARRICK_PERMIT(memory, sizeof memory);
}

int main(void) {
    pcg();
    siphash();
    crc32();
    varint();
    checksum();
    ip();
    reports();
    table();
    arithmetic();
    placed_again();
    return check_passed("base", 7);
}
