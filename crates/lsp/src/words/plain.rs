// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keywords, types and values.

use carrick_ir::Opcode;

use super::word::{Word, instruction, word};

pub const DECLARATIONS: &[Word] = &[
    word(
        "import",
        "import \"path\";",
        "The declarations of another file; the path is relative to the folder of this one.",
    ),
    word("const", "const T NAME = value;", "A constant, known when the program is compiled."),
    word("param", "param T name = value in lo..hi;", "A value that is fixed when the stack starts."),
    word(
        "require",
        "require low <= high;",
        "A condition over parameters and constants; a stack starts only with values that meet it.",
    ),
    word("enum", "enum E : uint8 { A, B = 4 }", "Named constants, in scope everywhere."),
    word("struct", "struct S { T field; }", "A record; assignment copies it."),
    word("id", "id K(T part, ...);", "The id of a context: its fields identify an instance."),
    word("event", "event E : kind { T field; }", "Something that happens, with its data."),
    word(
        "global",
        "global context name { ... }",
        "The only instance of a context, a further parameter of any processor.",
    ),
    word(
        "context",
        "context C by id { T field; timer_t t -> event; }",
        "State that lasts from `new_ctx` to `del_ctx`, found by its id.",
    ),
    word("scratchpad", "scratchpad S { T field; }", "Fresh for each chain and shared by its processors."),
    word(
        "scratchpad_t",
        "scratchpad_t S { T field; }",
        "Fresh for each chain and shared by its processors; an accepted spelling of `scratchpad`.",
    ),
    word(
        "net_header",
        "net_header ipv4 { T field = value; }",
        "The fields of the network header that a parser reads and a packet sets.",
    ),
    word(
        "opt_t",
        "opt_t O { uint8 kind = 2; uint8 len = 4; T field; }",
        "An option of a header. Its last field may be a list.",
    ),
    word("opt_union", "opt_union U { option, ... }", "The options that a list may hold."),
    word("opt_list", "opt_list L { bytes len = ...; list<U, N> opts; }", "A list of options in a header."),
    word("frame_union", "frame_union U { frame, ... }", "The frames that a packet may hold."),
    word(
        "pkt_bp",
        "pkt_bp B over header { T field : bits = value; }",
        "A blueprint: the fields of a packet in wire order. Without `over`, a frame.",
    ),
    word(
        "seg_rule",
        "seg_rule r [B::field, first, mid, last];",
        "The value of a field in the first, the middle and the last packet of one blueprint.",
    ),
    word(
        "coalescing_rule",
        "coalescing_rule r [B, condition, field, ...];",
        "The condition under which a new blueprint is merged with a queued one.",
    ),
    word(
        "machine",
        "machine M for context c { state S { on event e if (condition) { goto S; } } }",
        "A state machine: reactions to events, by state. It begins in its first state, and runs at the position of its name in a chain; `c.M` is its state.",
    ),
    word(
        "dispatch",
        "dispatch D { event -> { processor, ... } absent { processor }; }",
        "The processors that handle each event.",
    ),
    word(
        "interface",
        "interface I { call -> event at id(...); call -> event on context; }",
        "The calls that applications can make.",
    ),
    word("deploy", "deploy { register_...(...); }", "The parts of the program that run."),
    word(
        "layout",
        "layout B { group g as ethernet { field, ... } pack p { field, ... } range field in lo..hi; }",
        "The order and the bits of a blueprint's fields in a packet.",
    ),
    word("group", "group name { field, ... }", "Fields of a layout in this order."),
    word("pack", "pack name { field, ... }", "Fields of a layout in the order that takes the fewest bits."),
    word("range", "range field in lo..hi;", "The values that a field of a layout can have."),
    word("align", "align field = bits;", "The multiple of bits on which a packed field begins."),
    word(
        "as",
        "group name as ethernet { field, ... }",
        "The header whose fields these are: ethernet, ipv4 or udp.",
    ),
    word("ethernet", "group name as ethernet { ... }", "The fields of an Ethernet header (IEEE 802.3)."),
    word("ipv4", "group name as ipv4 { ... }", "The fields of an IPv4 header (RFC 791)."),
    word("udp", "group name as udp { ... }", "The fields of a UDP header (RFC 768)."),
    word(
        "feature",
        "feature F(option, ...) default { requires G; declarations }",
        "A part of the program that a build can choose. `feature(F)` or `feature(F, option)`: true if it is chosen.",
    ),
    word("default", "feature F default { ... }", "The feature is chosen unless a build says `--without`."),
    word("always", "feature F(option, ...) always;", "Every build has the feature, with one of its options."),
    word(
        "extend",
        "extend function.point { ... }",
        "Statements that a feature adds to a function, at one of its points.",
    ),
    word("requires", "requires F, G = option;", "Features without which this one cannot be chosen."),
    word("excludes", "excludes F, G = option;", "Features with which this one cannot be chosen."),
    word("after", "processor after other", "The position directly after another processor of the chain."),
    word("before", "processor before other", "The position directly before another processor of the chain."),
    word("void", "void f(parameters) { }", "The type of a function without a value."),
    word(
        "invariant",
        "invariant name(context c) { assert(...); }",
        "A claim about a context, checked after every chain on it.",
    ),
];

pub const STATEMENTS: &[Word] = &[
    word(
        "if",
        "if (condition) { } else { }",
        "Runs one of two blocks. In a blueprint: fields that are present if the condition holds.",
    ),
    word(
        "else",
        "else { }",
        "The other branch of an `if`. In `choose`, the branch of all other values. In `dispatch`, `E else at id(...) -> { ... }`: the id of the context if none has the event's.",
    ),
    word(
        "for",
        "for (T i in a..b max N) { }",
        "Runs its block for each number of a half-open range, or each element of a list.",
    ),
    word(
        "while",
        "while (condition max N) { }",
        "Runs its block while the condition holds, at most N times.",
    ),
    word(
        "choose",
        "choose (value) { 1 -> ...; 2, 4..7 -> { } else -> ...; }",
        "Runs the branch of a value, of an integer or an enum. Each value has one branch; a range includes both ends.",
    ),
    word("in", "in a..b", "The range of a loop or a parameter."),
    word(
        "max",
        "max(a, b)",
        "The greater of two values of one ordered type. In a loop, `max N` bounds its iterations.",
    ),
    word("break", "break;", "Ends the loop."),
    word("continue", "continue;", "Begins the next iteration of the loop."),
    word("return", "return value;", "Ends the function."),
    word("stop", "stop;", "Ends the chain after this processor; issued instructions stay issued."),
    instruction(Opcode::Raise),
    word(
        "point",
        "point name(variable, ...);",
        "The point at which extensions of this function run, in the order of the file; they see these variables.",
    ),
    word("by", "by id", "The id by which an instance of a context is found."),
    word(
        "over",
        "over header",
        "The network header under a packet. `over(ipv6)`, `over(ipv4)`: true in builds over this version of the Internet Protocol.",
    ),
    word("at", "at id(...)", "Computes the context's id from the fields of the event."),
    word(
        "on",
        "on context",
        "In an interface, takes the handle of an instance. In a machine, `on event e if (condition) { }` says what happens.",
    ),
    word("state", "state S { on event { } }", "A state of a machine, with its reactions."),
    word("with", "on event e with T name", "A scratchpad or a global context that a reaction also takes."),
    word("goto", "goto S;", "Ends a reaction of a machine in another state."),
    word("absent", "absent { processor, ... }", "Runs when no context has the event's id."),
    word("union", "union (selector) { value -> { fields } }", "Fields that share a place in a blueprint."),
];

pub const EVENT_FIELDS: &[Word] = &[word(
    "optional",
    "optional T field;",
    "A field that an event need not have. `e.field.present`: true if it has it; only then is the field read.",
)];

pub const EVENT_KINDS: &[Word] = &[
    word("app_event", ": app_event", "Raised by an interface call; has a `token`."),
    word("net_event", ": net_event", "Raised by a parser."),
    word(
        "timer_event",
        ": timer_event",
        "Raised by a timer of a context; its fields are given when the timer is started.",
    ),
    word(
        "sent_event",
        ": sent_event",
        "An argument of `pkt_gen`; raised when the last packet of the blueprint has been sent.",
    ),
    word("flow_event", ": flow_event", "Raised by an event processor, for another context or the same one."),
];

pub const TYPES: &[Word] = &[
    word("bool", "bool", "`true` or `false`."),
    word("uint8", "uint8", "8 bits, wrapping."),
    word("uint16", "uint16", "16 bits, wrapping."),
    word("uint32", "uint32", "32 bits, wrapping."),
    word("uint64", "uint64", "64 bits, wrapping."),
    word("int8", "int8", "8 bits, two's complement, wrapping."),
    word("int16", "int16", "16 bits, two's complement, wrapping."),
    word("int32", "int32", "32 bits, two's complement, wrapping."),
    word("int64", "int64", "64 bits, two's complement, wrapping."),
    word("seq32", "seq32", "A 32-bit serial number with the order of RFC 1982."),
    word("fixed", "fixed", "A signed fixed-point number: 32 bits before and 32 after the point."),
    word("duration", "duration", "Signed, 64 bits, in nanoseconds: `10ms`."),
    word("time", "time", "Nanoseconds since the stack started, 64 bits."),
    word("rate", "rate", "Bits per second, 64 bits: `10Gbps`."),
    word("bytes", "bytes", "Bytes, 64 bits: `64KiB`."),
    word("ip_t", "ip_t", "An address of the network: `uint32` over IPv4, 128 bits over IPv6."),
    word("addr_t", "addr_t", "A reference to a region of application or payload data, with its length."),
    word("token_t", "token_t", "Names an application's request; `none` names no request."),
    word("handle_t", "handle_t", "Names a context instance to the application."),
    word("status_t", "status_t", "The result of a request."),
    word("list", "list<T, N>", "At most N elements in order."),
    word(
        "sorted_list",
        "sorted_list<T, N, key>",
        "At most N elements in ascending order, by their own value or by a field.",
    ),
    word(
        "sliding_wnd",
        "sliding_wnd(N, R)",
        "A flag for each of the N numbers from `head()`, with at most R out-of-order ranges.",
    ),
    word(
        "timer_t",
        "timer_t t -> event;",
        "A timer of a context; raises the event when it fires. `t[N]`: N of them.",
    ),
    word("data_t", "data_t payload;", "The payload of a blueprint."),
    word(
        "checksum16_t",
        "checksum16_t sum = internet(pseudo, header, payload);",
        "An Internet checksum, computed for each packet.",
    ),
    word(
        "crc32_t",
        "crc32_t sum = crc32(header, payload, masked(field));",
        "A CRC-32, computed for each packet.",
    ),
    word("varint_t", "varint_t field;", "A `uint64` below 2^62, in 1 to 8 bytes (RFC 9000 §16)."),
    word(
        "instr_t",
        "instr_t i = pkt_gen(bp);",
        "An instruction as a value, to be collected in a `list<instr_t>`.",
    ),
    word("event_t", "list<event_t>", "An event as a value, to be collected."),
    word(
        "report_t",
        "report_t kind",
        "The kind of an error that the network reports about a packet: a parameter of a report parser.",
    ),
    word("pkt_t", "pkt_t p", "A received packet: the first parameter of a parser."),
];

pub const LITERALS: &[Word] = &[
    word("true", "true", "A `bool`."),
    word("false", "false", "A `bool`."),
    word("none", "none", "No data, no request, no context."),
    word("INF", "INF", "The size of an unbounded data unit."),
    word(
        "header_len",
        "header_len",
        "In a computed field: bytes of the header as sent. In a function, `header_len(blueprint)`: bytes of its longest header.",
    ),
    word("payload_len", "payload_len", "In a computed field: bytes of the payload (`bytes`)."),
];

pub const STATUSES: &[Word] = &[
    word("OK", "OK", "The request is done."),
    word("END_OF_STREAM", "END_OF_STREAM", "The peer sends no more."),
    word("REFUSED", "REFUSED", "The peer refused the request."),
    word("RESET", "RESET", "The peer reset the connection."),
    word("TIMED_OUT", "TIMED_OUT", "The peer did not answer in time."),
    word("CLOSED", "CLOSED", "The instance does not exist any more."),
    word("NO_ROOM", "NO_ROOM", "A limit is reached."),
    word("IN_USE", "IN_USE", "It is in use already."),
    word("INVALID", "INVALID", "The request is invalid here."),
    word("UNREACHABLE", "UNREACHABLE", "No path leads to the peer."),
    word("BUSY", "BUSY", "The request cannot be taken now; try again later."),
    word("ABORTED", "ABORTED", "The application ended the request or the connection."),
];

pub const REPORTS: &[Word] = &[
    word("NET_UNREACHABLE", "NET_UNREACHABLE", "No route leads to the network."),
    word("HOST_UNREACHABLE", "HOST_UNREACHABLE", "The host does not answer."),
    word("PROTOCOL_UNREACHABLE", "PROTOCOL_UNREACHABLE", "The host does not have the protocol."),
    word("PORT_UNREACHABLE", "PORT_UNREACHABLE", "No program uses the port."),
    word("PACKET_TOO_BIG", "PACKET_TOO_BIG", "The packet is longer than the MTU of the next link."),
    word("SOURCE_ROUTE_FAILED", "SOURCE_ROUTE_FAILED", "The route that the packet names does not work."),
    word("PROHIBITED", "PROHIBITED", "An administrator does not allow it."),
    word("HOPS_EXCEEDED", "HOPS_EXCEEDED", "The time to live of the packet expired."),
    word("REASSEMBLY_EXCEEDED", "REASSEMBLY_EXCEEDED", "A fragment of the packet is missing."),
    word("PARAMETER_PROBLEM", "PARAMETER_PROBLEM", "The header of the packet is wrong."),
];
