/* SPDX-License-Identifier: MIT */
/*
 * The CRC-32 of IEEE 802.3. Only programs that have such a field include this. Sixteen bytes at a time by tables; on
 * processors that multiply without carries, 64 at a time.
 */
#ifndef CARRICK_CRC32_H
#define CARRICK_CRC32_H

#include "carrick/base.h"

#define CARRICK_CRC32_START 0xffffffffu

/*
 * What bytes leave, of what each of their bits leaves: remainders add up without carries. A row has the remainders of
 * the bytes 1, 2, 4 to 128, each followed by the same number of zeros.
 */
#define CARRICK_CRC32_BIT(octet, bit, r) (((octet) >> (bit)&1u) * UINT32_C(r))
#define CARRICK_CRC32_1(o, a, b, c, d, e, f, g, h)                                                                     \
    CARRICK_CRC32_BIT(o, 0, a) ^ CARRICK_CRC32_BIT(o, 1, b) ^ CARRICK_CRC32_BIT(o, 2, c) ^                             \
        CARRICK_CRC32_BIT(o, 3, d) ^ CARRICK_CRC32_BIT(o, 4, e) ^ CARRICK_CRC32_BIT(o, 5, f) ^                         \
        CARRICK_CRC32_BIT(o, 6, g) ^ CARRICK_CRC32_BIT(o, 7, h)
#define CARRICK_CRC32_4(o, ...)                                                                                        \
    CARRICK_CRC32_1(o, __VA_ARGS__), CARRICK_CRC32_1(o + 1u, __VA_ARGS__), CARRICK_CRC32_1(o + 2u, __VA_ARGS__),       \
        CARRICK_CRC32_1(o + 3u, __VA_ARGS__)
#define CARRICK_CRC32_16(o, ...)                                                                                       \
    CARRICK_CRC32_4(o, __VA_ARGS__), CARRICK_CRC32_4(o + 4u, __VA_ARGS__), CARRICK_CRC32_4(o + 8u, __VA_ARGS__),       \
        CARRICK_CRC32_4(o + 12u, __VA_ARGS__)
#define CARRICK_CRC32_64(o, ...)                                                                                       \
    CARRICK_CRC32_16(o, __VA_ARGS__), CARRICK_CRC32_16(o + 16u, __VA_ARGS__), CARRICK_CRC32_16(o + 32u, __VA_ARGS__),  \
        CARRICK_CRC32_16(o + 48u, __VA_ARGS__)
#define CARRICK_CRC32_ROW(...)                                                                                         \
    {                                                                                                                  \
        CARRICK_CRC32_64(0u, __VA_ARGS__), CARRICK_CRC32_64(64u, __VA_ARGS__), CARRICK_CRC32_64(128u, __VA_ARGS__),    \
            CARRICK_CRC32_64(192u, __VA_ARGS__)                                                                        \
    }

/* The remainder of each byte, followed by 0 to 15 bytes of zeros. */
static const uint32_t carrick_crc32_table[16][256] = {
    CARRICK_CRC32_ROW(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
    CARRICK_CRC32_ROW(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
    CARRICK_CRC32_ROW(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
    CARRICK_CRC32_ROW(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
    CARRICK_CRC32_ROW(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
    CARRICK_CRC32_ROW(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
    CARRICK_CRC32_ROW(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
    CARRICK_CRC32_ROW(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
    CARRICK_CRC32_ROW(0x177b1443, 0x2ef62886, 0x5dec510c, 0xbbd8a218, 0xacc04271, 0x82f182a3, 0xde920307, 0x6655004f),
    CARRICK_CRC32_ROW(0xefc26b3e, 0x04f5d03d, 0x09eba07a, 0x13d740f4, 0x27ae81e8, 0x4f5d03d0, 0x9eba07a0, 0xe6050901),
    CARRICK_CRC32_ROW(0xc18edfc0, 0x586cb9c1, 0xb0d97382, 0xbac3e145, 0xaef6c4cb, 0x869c8fd7, 0xd64819ef, 0x77e1359f),
    CARRICK_CRC32_ROW(0x9ba54c6f, 0xec3b9e9f, 0x03063b7f, 0x060c76fe, 0x0c18edfc, 0x1831dbf8, 0x3063b7f0, 0x60c76fe0),
    CARRICK_CRC32_ROW(0xdd96d985, 0x605cb54b, 0xc0b96a96, 0x5a03d36d, 0xb407a6da, 0xb37e4bf5, 0xbd8d91ab, 0xa06a2517),
    CARRICK_CRC32_ROW(0x9d0fe176, 0xe16ec4ad, 0x19ac8f1b, 0x33591e36, 0x66b23c6c, 0xcd6478d8, 0x41b9f7f1, 0x8373efe2),
    CARRICK_CRC32_ROW(0xb9fbdbe8, 0xa886b191, 0x8a7c6563, 0xcf89cc87, 0x44629f4f, 0x88c53e9e, 0xcafb7b7d, 0x4e87f0bb),
    CARRICK_CRC32_ROW(0xae689191, 0x87a02563, 0xd4314c87, 0x73139f4f, 0xe6273e9e, 0x173f7b7d, 0x2e7ef6fa, 0x5cfdedf4),
};

/* Reads four bytes, the least significant first: the order of a CRC-32 in a packet. */
static inline uint32_t carrick_crc32_load(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* What four bytes leave that are followed by `zeros` bytes. */
static inline uint32_t carrick_crc32_four(uint32_t word, unsigned zeros) {
    return carrick_crc32_table[zeros + 3][word & 0xff] ^ carrick_crc32_table[zeros + 2][word >> 8 & 0xff] ^
           carrick_crc32_table[zeros + 1][word >> 16 & 0xff] ^ carrick_crc32_table[zeros][word >> 24];
}

/* Goes on with n bytes, by tables. */
static inline uint32_t carrick_crc32_base(uint32_t crc, const uint8_t *p, size_t n) {
    for (; n >= 16; p += 16, n -= 16)
        crc = carrick_crc32_four(crc ^ carrick_crc32_load(p), 12) ^ carrick_crc32_four(carrick_crc32_load(p + 4), 8) ^
              carrick_crc32_four(carrick_crc32_load(p + 8), 4) ^ carrick_crc32_four(carrick_crc32_load(p + 12), 0);
    for (; n >= 4; p += 4, n -= 4)
        crc = carrick_crc32_four(crc ^ carrick_crc32_load(p), 0);
    for (; n > 0; p++, n--)
        crc = crc >> 8 ^ carrick_crc32_table[0][(crc ^ *p) & 0xff];
    return crc;
}

#if defined(__x86_64__)

#include <wmmintrin.h>

/* Below so many bytes folding does not pay. */
#define CARRICK_CRC32_SHORT      128u
#define CARRICK_CRC32_HAS_WIDE() __builtin_cpu_supports("pclmul")

/*
 * The bytes as a polynomial, x^127 first: both halves of `at` are moved ahead, by their product with what x leaves to
 * the power of the distance (Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction,
 * 2009). The product of two reflected words is x times too large, which the powers allow for.
 */
__attribute__((target("pclmul"))) static inline __m128i carrick_crc32_fold(__m128i at, __m128i powers, __m128i next) {
    __m128i first = _mm_clmulepi64_si128(at, powers, 0x00), second = _mm_clmulepi64_si128(at, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

static inline __m128i carrick_crc32_load128(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Goes on with n bytes, at least 64. */
__attribute__((target("pclmul"))) static uint32_t CARRICK_UNUSED carrick_crc32_wide(uint32_t crc, const uint8_t *p,
                                                                                    size_t n) {
    /* x^575 and x^511: 64 bytes ahead. x^191 and x^127: 16. */
    const __m128i far = _mm_set_epi64x((long long)0xcad38e8f00000000u, 0x653d982200000000);
    const __m128i near = _mm_set_epi64x((long long)0x9ba54c6f00000000u, 0x65673b4600000000);
    /* Four names, not an array: that would stay in memory. */
    __m128i a = _mm_xor_si128(carrick_crc32_load128(p), _mm_cvtsi32_si128((int)crc));
    __m128i b = carrick_crc32_load128(p + 16), c = carrick_crc32_load128(p + 32), d = carrick_crc32_load128(p + 48);
    for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
        a = carrick_crc32_fold(a, far, carrick_crc32_load128(p));
        b = carrick_crc32_fold(b, far, carrick_crc32_load128(p + 16));
        c = carrick_crc32_fold(c, far, carrick_crc32_load128(p + 32));
        d = carrick_crc32_fold(d, far, carrick_crc32_load128(p + 48));
    }
    d = carrick_crc32_fold(carrick_crc32_fold(carrick_crc32_fold(a, near, b), near, c), near, d);
    for (; n >= 16; p += 16, n -= 16)
        d = carrick_crc32_fold(d, near, carrick_crc32_load128(p));
    /* These 16 bytes leave what all before them left. */
    uint8_t left[16];
    memcpy(left, &d, sizeof left);
    return carrick_crc32_base(carrick_crc32_base(0, left, sizeof left), p, n);
}

#else

#define CARRICK_CRC32_SHORT      SIZE_MAX
#define CARRICK_CRC32_HAS_WIDE() false
#define carrick_crc32_wide       carrick_crc32_base

#endif

/* Goes on with n bytes. Start with CARRICK_CRC32_START, invert the result. */
static inline uint32_t carrick_crc32(uint32_t crc, const uint8_t *p, size_t n) {
    if (n < CARRICK_CRC32_SHORT || !CARRICK_CRC32_HAS_WIDE())
        return carrick_crc32_base(crc, p, n);
    return carrick_crc32_wide(crc, p, n);
}

/* Goes on with n bytes of ones. */
static inline uint32_t carrick_crc32_ones(uint32_t crc, size_t n) {
    for (; n >= 4; n -= 4)
        crc = carrick_crc32_four(~crc, 0);
    for (; n > 0; n--)
        crc = crc >> 8 ^ carrick_crc32_table[0][(crc ^ 0xff) & 0xff];
    return crc;
}

static inline void carrick_crc32_store(uint8_t *p, uint32_t crc) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(crc >> 8 * i);
}

#endif
