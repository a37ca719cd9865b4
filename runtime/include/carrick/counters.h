/* SPDX-License-Identifier: MIT */
/* The counters of every core, by number: docs/reference/execution.md. */
#ifndef CARRICK_COUNTERS_H
#define CARRICK_COUNTERS_H

enum carrick_counter {
    CARRICK_COUNT_IP_SHORT = 0,
    CARRICK_COUNT_IP_VERSION,
    CARRICK_COUNT_IP_LENGTH,
    CARRICK_COUNT_IP_CHECKSUM,
    CARRICK_COUNT_IP_FRAGMENT,
    CARRICK_COUNT_IP_PROTOCOL,
    CARRICK_COUNT_IP_ADDRESS,
    CARRICK_COUNT_SHORT,
    CARRICK_COUNT_BAD_CHECKSUM,
    CARRICK_COUNT_BAD_OPTIONS,
    CARRICK_COUNT_BAD_FIELD,
    CARRICK_COUNT_UNPARSED,
    CARRICK_COUNT_NO_CONTEXT,
    CARRICK_COUNT_CTX_REFUSED,
    CARRICK_COUNT_TX_CUT,
    CARRICK_COUNT_PAYLOAD_CUT,
    CARRICK_COUNT_RX_CUT,
    CARRICK_COUNT_RX_RUNS_FULL,
    CARRICK_COUNT_NO_UNIT,
    CARRICK_COUNT_TX_QUEUE_FULL,
    CARRICK_COUNT_TX_TOO_LONG,
    CARRICK_COUNT_TX_BAD_FIELD,
    CARRICK_COUNT_COMPLETION_LOST,
    CARRICK_COUNT_CLAIMS_FAILED,
    CARRICK_COUNT_STORE_FULL,
    CARRICK_COUNT_PACKET_GONE,
    CARRICK_COUNT_RX_PACKETS,
    CARRICK_COUNT_TX_PACKETS,
    CARRICK_COUNT_EVENTS,
    CARRICK_COUNT_TX_COALESCED,
    CARRICK_COUNT_TX_FORWARDED,
    CARRICK_COUNT_CTX_RECLAIMED,
    CARRICK_COUNT_UNITS_RESTARTED,
    CARRICK_COUNTERS
};

/* The names, in this order; for a `static const char *const names[CARRICK_COUNTERS]`. */
#define CARRICK_COUNTER_NAMES                                                                                          \
    "ip_short", "ip_version", "ip_length", "ip_checksum", "ip_fragment", "ip_protocol", "ip_address", "short",         \
        "bad_checksum", "bad_options", "bad_field", "unparsed", "no_context", "ctx_refused", "tx_cut", "payload_cut",  \
        "rx_cut", "rx_runs_full", "no_unit", "tx_queue_full", "tx_too_long", "tx_bad_field", "completion_lost",        \
        "claims_failed", "store_full", "packet_gone", "rx_packets", "tx_packets", "events", "tx_coalesced",            \
        "tx_forwarded", "ctx_reclaimed", "units_restarted"

#endif
