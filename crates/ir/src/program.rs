// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::crc::Crc;
use crate::expr::{BinOp, Expr, ExprKind};
use crate::header_array::FieldElement;
use crate::part::BpPart;
use crate::sched::{EventSchedule, Schedule};
use crate::stmt::Block;
use crate::text::Text;
use crate::ty::*;

/// A whole checked program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Program {
    /// the file's stem; the prefix of generated names
    pub name: String,
    /// the file as it was named to the compiler, for `#line` and messages
    pub file: Text,
    /// the files that it imports, named likewise, in the order of their numbers
    pub imports: Vec<Text>,
    /// the text of each file, that of `file` first; empty in a program that was not made from text
    pub texts: Vec<Text>,
    /// FNV-1a 64 of the source text, all files of it
    pub source_hash: u64,
    /// the features that it has been built with, as `--with` takes them
    pub features: Vec<Text>,
    pub consts: Vec<ConstDef>,
    /// constant arrays
    pub arrays: Vec<ArrayDef>,
    pub params: Vec<ParamDef>,
    /// what the values of the parameters must meet together, in the order of the file
    pub requirements: Vec<Requirement>,
    pub enums: Vec<EnumDef>,
    pub structs: Vec<StructDef>,
    pub ids: Vec<IdDef>,
    pub events: Vec<EventDef>,
    pub contexts: Vec<ContextDef>,
    pub scratchpads: Vec<StructDef>,
    pub net_header: NetHeaderDef,
    pub opts: Vec<OptDef>,
    pub opt_lists: Vec<OptListDef>,
    pub blueprints: Vec<BlueprintDef>,
    pub seg_rules: Vec<SegRule>,
    /// how blueprints wait
    pub schedule: Schedule,
    /// of a program in the network: how many packets it keeps at most; known at the start
    pub in_network: Option<Expr>,
    /// how events wait; absent: each is handled when it comes
    pub event_schedule: Option<EventSchedule>,
    /// in the order in which they are tried
    pub coalescing: Vec<CoalescingRule>,
    /// callees before callers
    pub functions: Vec<Function>,
    pub parser: FuncId,
    /// the parser of errors that the network reports about packets of this program
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_parser: Option<FuncId>,
    /// the most events that a parser raises for one packet
    pub max_parsed: u32,
    /// one for each event, in the order of `events`; `None` if nothing is dispatched for it
    pub chains: Vec<Option<Chain>>,
    /// what was written as a state machine; what it does stands in its context, functions and chains
    pub machines: Vec<Machine>,
    pub interface: Option<Interface>,
    /// what the program claims of itself, in the order of the file
    pub claims: Vec<Claim>,
    /// functions of one context that only claim; each runs after every chain on an instance that lives on
    pub invariants: Vec<FuncId>,
    /// the most blueprints that one outside event (a packet, a call, a timer, a sent event) can issue,
    /// with all flow events that it raises
    pub max_blueprints: u32,
}

impl Program {
    /// The parser of received packets, and that of reports if there is one.
    pub fn parsers(&self) -> impl Iterator<Item = FuncId> + use<> {
        [Some(self.parser), self.report_parser].into_iter().flatten()
    }

    /// The contexts of which a host's applications have connections, messages or requests: those with data, or all if none has.
    pub fn served(&self) -> impl Iterator<Item = &ContextDef> {
        let any = self.contexts.iter().any(ContextDef::holds_data);
        self.contexts.iter().filter(move |ctx| !ctx.global && (ctx.holds_data() || !any))
    }

    /// The file that a place lies in.
    pub fn file_of(&self, loc: Loc) -> &Text {
        let import = (loc.file as usize).checked_sub(1).and_then(|number| self.imports.get(number));
        import.unwrap_or(&self.file)
    }

    /// Returns the type of an address of the network header.
    pub fn address_ty(&self) -> Ty {
        match self.net_header.layer {
            NetLayer::Ipv6 => Ty::Id(ADDRESS_ID),
            NetLayer::Ipv4 | NetLayer::Link => Ty::U32,
        }
    }

    /// Returns how many 64-bit words a value of an id has: one for each part, two for an IPv6 address.
    pub fn words_of_id(&self, id: IdId) -> usize {
        let words = |part: &FieldDef| match part.ty {
            Ty::Id(inner) => self.words_of_id(inner),
            _ => 1,
        };
        self.ids.get(id.index()).map_or(0, |def| def.parts.iter().map(words).sum())
    }

    /// Whether a packet is all of an Ethernet frame.
    pub fn makes_ethernet_frames(&self) -> bool {
        let is_frame = |bp: &BlueprintDef| {
            bp.groups.first().is_some_and(|g| g.first == 0 && g.shape.as_deref() == Some("ethernet"))
        };
        self.net_header.layer == NetLayer::Link && self.blueprints.iter().filter(|bp| !bp.frame).all(is_frame)
    }

    /// By what the elements of a sorted list are sorted.
    pub fn sort_key(&self, element: &Ty, order: Order) -> Option<Ty> {
        match (order, element) {
            (Order::Sorted, _) => Some(element.clone()),
            (Order::SortedBy(field), Ty::Struct(id)) => {
                Some(self.structs.get(id.index())?.fields.get(field as usize)?.ty.clone())
            }
            _ => None,
        }
    }
}

/// A state machine, for those who draw it: targets need nothing of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    pub doc: Text,
    pub context: CtxId,
    /// names and documentation
    pub states: Vec<(String, Text)>,
    /// the states in which contexts begin, ascending: the first, and those in which the program makes some
    pub entries: Vec<u32>,
    pub transitions: Vec<Transition>,
}

/// What one `on` of a machine leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Transition {
    /// a state, by number; `None`: any
    pub from: Option<u32>,
    pub event: EventId,
    /// its condition, as written
    pub guard: Option<Text>,
    /// the states that it may go to; if none, it stays
    pub to: Vec<u32>,
    /// it may delete the context
    pub ends: bool,
    pub loc: Loc,
}

/// The condition of an `assert`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Claim {
    /// as written
    pub text: Text,
    pub loc: Loc,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct ConstDef {
    pub name: String,
    pub doc: Text,
    pub ty: Ty,
    pub value: u64,
}

/// A constant array, of at least one element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct ArrayDef {
    pub name: String,
    pub doc: Text,
    /// of each element: scalar
    pub ty: Ty,
    pub values: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct ParamDef {
    pub name: String,
    pub doc: Text,
    pub ty: Ty,
    pub default: u64,
    pub lo: u64,
    pub hi: u64,
}

/// A condition on the values of parameters: `require cond;`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Requirement {
    /// over constants and parameters, of type `Bool`
    pub cond: Expr,
    /// as written
    pub text: Text,
    pub loc: Loc,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct EnumDef {
    pub name: String,
    pub doc: Text,
    /// an unsigned integer type
    pub repr: Ty,
    pub variants: Vec<(String, u64)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct FieldDef {
    pub name: String,
    pub doc: Text,
    pub ty: Ty,
    /// may use constants, parameters and built-ins, no locals; absent: zero
    pub init: Option<Expr>,
}

/// A struct or a scratchpad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct StructDef {
    pub name: String,
    pub doc: Text,
    pub fields: Vec<FieldDef>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct IdDef {
    pub name: String,
    pub doc: Text,
    /// scalar types
    pub parts: Vec<FieldDef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    App,
    Net,
    Timer,
    Sent,
    Flow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct EventDef {
    pub name: String,
    pub doc: Text,
    pub kind: EventKind,
    pub fields: Vec<FieldDef>,
    /// the fields that an event need not have, ascending; the field before each, a `bool`, says whether it is there
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<u32>,
    /// the type of the id that `set_flow_id` gives it (or its call computes); `None` if its chain takes no context
    pub id: Option<IdId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct TimerDef {
    /// of one among several also its place: `resend[2]`
    pub name: String,
    pub doc: Text,
    pub event: EventId,
    /// which one it is of several that follow each other under one name, and how many they are; `None`: it is alone
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<TimerElement>,
    /// the fields of the context that keep what the fields of its event will say, in their order; of several timers, fields of arrays
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<u32>,
}

/// How many timers a context has at most.
pub const MOST_TIMERS: usize = 256;

/// A timer among several that follow each other under one name: its index, below how many they are (1 to [`MOST_TIMERS`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimerElement {
    pub at: u32,
    pub of: u32,
}

impl TimerDef {
    /// The name as declared.
    pub fn base(&self) -> &str {
        self.name.split('[').next().unwrap_or(&self.name)
    }

    /// Whether it is alone, or the first of several under one name.
    pub fn is_first(&self) -> bool {
        self.element.is_none_or(|element| element.at == 0)
    }

    /// How many timers can be chosen from this one on.
    pub fn count(&self) -> u32 {
        self.element.map_or(1, |element| element.of - element.at)
    }
}

/// Deployment facts that a constant or a parameter gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct ContextDef {
    pub name: String,
    pub doc: Text,
    /// it has one instance from the start on, which is never deleted; its id has no parts
    pub global: bool,
    pub id: IdId,
    pub fields: Vec<FieldDef>,
    pub timers: Vec<TimerDef>,
    /// how many instances at most (an integer expression over constants and parameters)
    pub capacity: Expr,
    /// bytes in the TX and RX data units of an instance, before rounding up to a power of two;
    /// `None` if the program makes no such unit
    pub tx_capacity: Option<Expr>,
    pub rx_capacity: Option<Expr>,
    /// how an RX unit grows; `None`: it does not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_growth: Option<Growth>,
}

/// How the RX units of a context grow: bytes in one at most, and those that all of them together have beyond what each has at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Growth {
    pub most: Expr,
    pub pool: Expr,
}

impl ContextDef {
    /// Whether an instance can have units of data.
    pub fn holds_data(&self) -> bool {
        self.tx_capacity.is_some() || self.rx_capacity.is_some()
    }

    /// The fields that the program declares: the others keep what events of timers will say.
    pub fn declared_fields(&self) -> impl Iterator<Item = &FieldDef> {
        self.fields.iter().enumerate().filter(|(at, _)| !self.keeps(*at)).map(|(_, field)| field)
    }

    /// Whether the field with this number keeps what the event of a timer will say. Such a field has no name in programs.
    pub fn keeps(&self, field: usize) -> bool {
        self.timers.iter().any(|timer| timer.says.contains(&(field as u32)))
    }

    /// The timers, those under one name together: the number and the definition of the first. [`TimerDef::count`] says how many
    /// they are.
    pub fn timer_rows(&self) -> impl Iterator<Item = (usize, &TimerDef)> {
        self.timers.iter().enumerate().filter(|(_, timer)| timer.is_first())
    }

    /// All that says how many bytes its units have.
    pub fn unit_sizes(&self) -> impl Iterator<Item = &Expr> {
        let growth = self.rx_growth.iter().flat_map(|growth| [&growth.most, &growth.pool]);
        [&self.tx_capacity, &self.rx_capacity].into_iter().flatten().chain(growth)
    }
}

/// The number of the id that is an IPv6 address, in programs over IPv6: its parts are the high and the low 64 bits.
pub const ADDRESS_ID: IdId = IdId(0);
/// How programs write the type of an address.
pub const ADDRESS: &str = "ip_t";

/// What a network header's field is; the network layer knows these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NetField {
    SrcIp,
    DstIp,
    Protocol,
    Ttl,
    Tos,
    PayloadLen,
    /// of a program in the network: by which of its two it came, or leaves
    Interface,
    /// of the segment routing header (RFC 8754 §2) of a packet over IPv6: its list, whose first entry is the last of the path
    Segments,
    /// how many entries of `Segments` the packet has: one more than "Last Entry"; 0: it has no segment routing header
    SegmentCount,
    SegmentsLeft,
    SegmentFlags,
    SegmentTag,
}

impl NetField {
    /// Whether it is of the segment routing header.
    pub fn is_of_segments(self) -> bool {
        use NetField::*;
        matches!(self, Segments | SegmentCount | SegmentsLeft | SegmentFlags | SegmentTag)
    }
}

/// What stands in front of a program's own headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NetLayer {
    /// the core makes and checks an IPv4 header
    Ipv4,
    /// as `ipv4`, with an IPv6 header (RFC 8200); addresses are ids of two `uint64`
    Ipv6,
    /// nothing: a packet is what goes over the link
    Link,
}

impl NetLayer {
    /// As a program and a target file name it.
    pub fn name(self) -> &'static str {
        match self {
            NetLayer::Ipv4 => "ipv4",
            NetLayer::Ipv6 => "ipv6",
            NetLayer::Link => "link",
        }
    }

    /// Bytes of the header that is sent.
    pub fn header_len(self) -> u32 {
        match self {
            NetLayer::Ipv4 => 20,
            NetLayer::Ipv6 => 40,
            NetLayer::Link => 0,
        }
    }

    /// Bytes that a packet may have wherever it goes, and where the number is from: an IPv4 host takes at least 576
    /// (RFC 791 §3.1), an IPv6 link carries at least 1280; nothing is sure of a link, and most carry 1500.
    pub fn sure_mtu(self) -> (u32, &'static str) {
        match self {
            NetLayer::Ipv4 => (576, "the size that every IPv4 host accepts (RFC 791 §3.1)"),
            NetLayer::Ipv6 => (1280, "what every IPv6 link carries (RFC 8200 §5)"),
            NetLayer::Link => (1500, "the MTU of most links"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct NetHeaderDef {
    /// as the program names it: `ipv4`, `ipv6`, `inet` or `link`
    pub name: String,
    pub layer: NetLayer,
    pub fields: Vec<NetFieldDef>,
    /// the protocol number that the stack listens for and sends
    pub protocol: u8,
}

/// Bytes of a segment routing header before its list (RFC 8754 §2), and of each entry.
pub const ROUTING_HEADER: u32 = 8;
pub const SEGMENT: u32 = 16;

impl NetHeaderDef {
    /// The longest list of segments; `None` if the program leaves segment routing headers to the network layer.
    pub fn segments(&self) -> Option<u32> {
        self.fields.iter().find_map(|def| match (def.field, &def.ty) {
            (NetField::Segments, Ty::Array(_, n)) => Some(*n),
            _ => None,
        })
    }

    /// Bytes of the longest header that is sent.
    pub fn longest(&self) -> u32 {
        self.layer.header_len() + self.segments().map_or(0, |n| ROUTING_HEADER + n * SEGMENT)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct NetFieldDef {
    pub field: NetField,
    pub name: String,
    pub ty: Ty,
    pub init: Option<Expr>,
}

/// One kind of TLV option: the byte `kind`, the byte `len` (unless `len` is 1), then its value fields, big-endian; or
/// kind and the length of the fields as variable-length integers, then these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct OptDef {
    pub name: String,
    pub doc: Text,
    pub kind: u8,
    /// bytes on the wire, kind and length bytes included, without the elements of `list`
    pub len: u8,
    /// the kind as a variable-length integer (`kind` and `len` are 0 then)
    pub wide: Option<u64>,
    /// the fields after kind and len
    pub fields: Vec<OptField>,
    /// behind them, up to the end of the option
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<OptElements>,
}

/// A value field of an option; `fixed` if its declaration gives the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct OptField {
    pub name: String,
    pub ty: Ty,
    /// a variable-length integer, in an option that has them
    pub varint: bool,
    pub fixed: Option<u64>,
}

/// The list that is the last field of an option: its elements follow each other without padding, up to the option's end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct OptElements {
    pub name: String,
    /// an integer or `seq32`, or a struct of these
    pub element: Ty,
    /// the fewest elements: with fewer, a received option is malformed, and none is sent
    pub least: u32,
    pub most: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct OptListDef {
    pub name: String,
    pub doc: Text,
    /// the options that it can hold, in the order in which they are sent
    pub members: Vec<OptId>,
    /// bytes in a received packet, over [`ExprKind::BpField`](crate::ExprKind::BpField); type `Bytes`
    pub len: Expr,
    /// 1, 2, 4 or 8: each option ends on this multiple (from the list's beginning)
    pub align: u32,
    /// the byte that stands in front of an option to align it
    pub pad: u8,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BpFieldKind {
    Plain {
        init: Option<Expr>,
    },
    /// over `HeaderLen`, `PayloadLen`, `BpField`
    Computed(Expr),
    /// the Internet checksum (RFC 1071) over those parts, or over the bytes from one fixed field to another
    Checksum {
        pseudo: bool,
        header: bool,
        payload: bool,
        fields: Option<(u32, u32)>,
    },
    /// a CRC-32
    Crc(Crc),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct BpField {
    pub name: String,
    pub doc: Text,
    pub ty: Ty,
    /// 1..=64 (64 of a variable-length integer), most significant bit first; the field's offset in bits from the
    /// header's or its part's beginning. 0: always its `base`, and not in the packet
    pub bits: u32,
    pub bit_offset: u32,
    /// in the packet is the field less this
    pub base: u64,
    /// the least and the greatest value that it has in a packet
    pub range: Option<(u64, u64)>,
    pub kind: BpFieldKind,
    /// its place in the array that the program declares; `None`: it is declared alone
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<FieldElement>,
}

impl BpField {
    /// Whether it only fills up bytes of a layout, and is no field of the program.
    pub fn is_padding(&self) -> bool {
        self.name.ends_with("__")
    }
}

/// How fields of a blueprint were told to lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Group {
    pub name: String,
    pub doc: Text,
    /// in the order of the fewest bits
    pub packed: bool,
    /// the header whose fields these are: `ethernet`, `ipv4`, `udp`
    pub shape: Option<String>,
    /// of the blueprint's fields: the first, and how many (those that pad it among them)
    pub first: u32,
    pub count: u32,
}

/// The frames that a packet can be made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Frames {
    pub members: Vec<BpId>,
    /// how many at most
    pub most: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct BlueprintDef {
    pub name: String,
    pub doc: Text,
    /// it is no packet of its own but stands in the payload of one
    pub frame: bool,
    /// when received: bytes of its payload, over `BpField` and `PayloadLen` (what is left of the packet); absent:
    /// all that is left if it has a payload. A packet with this has fixed fields alone before its payload
    pub payload_len: Option<Expr>,
    /// its payload is frames
    pub frames: Option<Frames>,
    pub fields: Vec<BpField>,
    /// of its layout, in the order of the packet
    pub groups: Vec<Group>,
    /// what follows the fixed fields, in order
    pub parts: Vec<BpPart>,
    /// when sent: zeros after the payload make its length a multiple of this, 1 to 8
    pub payload_align: u32,
    /// whether the last field follows the payload: it is a CRC-32
    pub trailer: bool,
    /// bytes of the fixed fields
    pub fixed_len: u32,
    pub options: Option<OptListId>,
    /// the most bytes that fields before the payload and options take together
    pub max_header_len: u32,
    /// the name of the options field, the name of the payload field
    pub options_name: Option<String>,
    pub payload_name: Option<String>,
}

/// `[blueprint::field, first, mid, last]` over `BpField`, `PrevField`, `PrevPayloadLen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct SegRule {
    pub name: String,
    pub blueprint: BpId,
    pub field: u32,
    pub first: Expr,
    pub mid: Expr,
    pub last: Expr,
}

/// When a blueprint is issued while one of the same kind waits on its context: over `BpField`, `PayloadLen` of the new
/// one, `PrevField`, `PrevPayloadLen` of the one that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct CoalescingRule {
    pub name: String,
    pub blueprint: BpId,
    pub when: Expr,
    /// fields that the one that waits takes from the new one, which is dropped; none: the new one takes its place
    pub takes: Vec<u32>,
}

impl CoalescingRule {
    /// Whether the new one can only be one without payload, by a condition that says so in as many words.
    pub fn without_payload(&self) -> bool {
        fn says(e: &Expr) -> bool {
            match &e.kind {
                ExprKind::Binary(BinOp::LogicalAnd, left, right) => says(left) || says(right),
                ExprKind::Binary(BinOp::Eq, left, right) => {
                    let lengths = (&left.kind, &right.kind);
                    matches!(
                        lengths,
                        (ExprKind::PayloadLen, ExprKind::Lit(0)) | (ExprKind::Lit(0), ExprKind::PayloadLen)
                    )
                }
                _ => false,
            }
        }
        says(&self.when)
    }
}

/// A local variable or a parameter (parameters come first).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Local {
    pub name: String,
    pub ty: Ty,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Function {
    pub name: String,
    pub doc: Text,
    pub loc: Loc,
    /// how many of the locals are parameters
    pub params: u32,
    pub locals: Vec<Local>,
    pub ret: Ty,
    pub body: Block,
    /// no effect but its result: no instruction, no write through a reference, no `random`
    pub pure: bool,
    /// `stop` can be reached, here or in a callee
    pub may_stop: bool,
    /// the most flow events raised by one run (for a parser: events), callees included
    pub max_raised: u32,
}

/// A context that a chain finds by a part of the id of its own one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Shared {
    pub context: CtxId,
    /// which part of the own context's id each part of its id is
    pub parts: Vec<u32>,
}

/// A part of an id that is made of another id of the same type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum KeyPart {
    /// this part of the other id
    Same(u32),
    Const(u64),
}

/// What happens for an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Chain {
    /// the context that the processors take
    pub context: Option<CtxId>,
    /// the id by which it is found if no context has the event's; empty: there is none
    pub fallback: Vec<KeyPart>,
    /// those that they take beside it, of all flows that have something in common with it, in order of declaration
    pub shared: Vec<Shared>,
    /// the global contexts that any processor takes, in order of declaration
    pub globals: Vec<CtxId>,
    pub present: Vec<FuncId>,
    pub absent: Option<Vec<FuncId>>,
    /// those that any processor takes
    pub scratchpads: Vec<ScratchId>,
    /// the most flow events that one run raises
    pub max_raised: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Interface {
    /// the shape: `stream`, ...
    pub name: String,
    pub calls: Vec<InterfaceCall>,
}

impl Interface {
    /// Whether fewer bytes may be sent, and received, than a request has.
    pub fn takes_parts(&self) -> bool {
        self.name.contains("stream")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct InterfaceCall {
    pub name: String,
    pub doc: Text,
    pub event: EventId,
    pub target: CallTarget,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CallTarget {
    /// the parts of the id, over [`ExprKind::CallArg`](crate::ExprKind::CallArg)
    At { id: IdId, parts: Vec<Expr> },
    /// a handle of an instance of this context
    On(CtxId),
    /// the event's chain takes no context
    Nowhere,
}
