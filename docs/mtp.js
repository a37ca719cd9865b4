// Colours for the programs and the grammar of the book. The words are those that editors know; a test writes their line:
// CARRICK_RECORD=1 cargo test -p carrick-lsp --test grammar
"use strict";
(() => {
    const words = {"built_in":"PER_FLOW ROUTE abs add_rx_data_seg add_tx_data assert cbrt crc32 data del_ctx drop drr fields fifo forward get_flow_id handle header_len in_network internet ip_high ip_low is_unicast keyed_hash local_ip log2 masked max min mtu new_ctx new_rx_ordered_data new_tx_ordered_data notify now ones pkt_copy pkt_discard pkt_gen pkt_release pkt_store put_data random rate_limiter ratio rebind_ctx register_coalescing_rule register_ctx_spec register_data_spec register_ep_chains register_ev_parser register_ev_sched register_interface register_pkt_sched register_role register_seg_rule retire_ctx rx_flush_and_notify rx_resize rx_size sat_add sat_sub seq_max seq_min set_flow_id set_queue_prio set_queue_rate sqrt strict_priority timer_restart timer_start timer_stop tx_flush_and_notify tx_room","keyword":"absent after align always app_event as at before break by choose coalescing_rule const context continue default deploy dispatch else enum ethernet event excludes extend feature flow_event for frame_union global goto group id if import in interface invariant ipv4 layout machine max net_event net_header on opt_list opt_t opt_union optional over pack param pkt_bp point raise range require requires return scratchpad scratchpad_t seg_rule sent_event state stop struct timer_event udp union void while with","literal":"ABORTED BUSY CLOSED END_OF_STREAM HOPS_EXCEEDED HOST_UNREACHABLE INF INVALID IN_USE NET_UNREACHABLE NO_ROOM OK PACKET_TOO_BIG PARAMETER_PROBLEM PORT_UNREACHABLE PROHIBITED PROTOCOL_UNREACHABLE REASSEMBLY_EXCEEDED REFUSED RESET SOURCE_ROUTE_FAILED TIMED_OUT UNREACHABLE false header_len none payload_len true","type":"addr_t bool bytes checksum16_t crc32_t data_t duration event_t fixed handle_t instr_t int16 int32 int64 int8 ip_t list pkt_t rate report_t seq32 sliding_wnd sorted_list status_t time timer_t token_t uint16 uint32 uint64 uint8 varint_t"};
    const comments = [hljs.C_LINE_COMMENT_MODE, hljs.C_BLOCK_COMMENT_MODE];
    const strings = { className: "string", begin: '"', end: '"', illegal: "\\n" };
    const numbers = { className: "number", begin: "\\b[0-9][0-9A-Za-z_]*\\b", relevance: 0 };
    hljs.registerLanguage("mtp", () => ({ keywords: words, contains: [...comments, strings, numbers] }));
    hljs.registerLanguage("ebnf", () => ({
        contains: [strings, { className: "section", begin: "^[a-z_]+(?= +=)" }, { className: "literal", begin: "\\b[A-Z]+\\b" }],
    }));
    document.querySelectorAll("code.language-mtp, code.language-ebnf").forEach((block) => hljs.highlightBlock(block));
})();
