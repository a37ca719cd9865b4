// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all parts of the emitter work on; each adds methods for what it writes. And what differs between processes and a
//! target that verifies programs: where things lie, what a verifier has to see, and what instructions stand on. The emitter
//! asks its dialect, and never which target it writes for.

use carrick_ir::{
    Block, BlueprintDef, ContextDef, FuncId, Function, LocalId, NetLayer, OptListDef, Program, Stmt, Ty,
};

use crate::ip::{self, Ip};
use crate::names::Names;
use crate::term::Term;
use crate::writer::Writer;

/// The state of writing one `NAME.c`.
pub struct Emitter<'p> {
    /// the program that is written
    pub p: &'p Program,
    /// its names in C
    pub names: Names<'p>,
    /// what is written so far
    pub w: Writer,
    /// whether blueprints wait in scheduling blocks that the runtime works
    pub blocks: bool,
    /// what differs between kinds of targets
    pub dialect: &'p dyn Dialect,
    /// the function that is being written
    pub function: Option<&'p Function>,
}

impl Emitter<'_> {
    /// The first parameter of most generated functions.
    pub fn core_param(&self) -> String {
        format!("CARRICK_UNUSED struct {} *core", self.names.own("core"))
    }

    /// Opens a function of the program's own; `head` is what stands before its name.
    pub fn open_own(&mut self, head: &str, name: &str, params: &str) {
        let line = format!("{head}{}({params}) {{", self.names.own(name));
        self.w.open(line);
    }

    /// The same of one on the core, which has `more` parameters.
    pub fn open_on_core(&mut self, head: &str, name: &str, more: &str) {
        self.open_own(head, name, &format!("{}{more}", self.core_param()));
    }

    /// The runtime's names for the program's network layer.
    pub fn ip(&self) -> &'static Ip {
        ip::ip(self.p)
    }

    /// Whether addresses have 16 bytes.
    pub fn over_ipv6(&self) -> bool {
        self.p.net_header.layer == NetLayer::Ipv6
    }

    /// Whether the program reads and writes segment routing headers.
    pub fn routes(&self) -> bool {
        self.p.net_header.segments().is_some()
    }

    /// Whether packets have a network header.
    pub fn has_net(&self) -> bool {
        self.p.net_header.layer != NetLayer::Link
    }
}

/// The C of one kind of target.
pub trait Dialect {
    /// Whether this kind of target has something that C in general has.
    fn has(&self, feature: Feature) -> bool;

    /// A whole function of the program.
    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function);

    /// Whether a local lies elsewhere than on the stack.
    fn in_frame(&self, _function: &Function, _local: LocalId) -> bool {
        false
    }

    /// C for such a place.
    fn frame_member(&self, e: &Emitter<'_>, local: LocalId) -> String {
        e.c_name(local)
    }

    /// Whether functions hand over values of this type by references, and return them in their frames.
    fn by_reference(&self, _ty: &Ty) -> bool {
        false
    }

    /// An index below `n`.
    fn index(&self, index: Term, _n: u32) -> Term {
        index
    }

    /// Takes what a call of the function returned. False: as any other.
    fn returned(
        &self,
        _e: &mut Emitter<'_>,
        _stmt: &Stmt,
        _dest: LocalId,
        _func: FuncId,
        _call: &str,
    ) -> bool {
        false
    }

    /// At the beginning of a loop's body, which counts with these numbers of these types.
    fn turn_begins(&self, _e: &mut Emitter<'_>, _stmt: &Stmt, _body: &Block, _counts: &[(&str, &str)]) {}

    /// `pkt_gen`, with the sent event that it brings: a call of the generate function with the blueprint, its rules, and
    /// the queue behind a comma, if there are several.
    fn generate(&self, e: &mut Emitter<'_>, function: &str, args: [&str; 3], sent: Option<LocalId>);

    /// The members of a struct that the program does not see.
    fn members(&self, e: &mut Emitter<'_>, of: Record<'_>);

    /// Opens a function on a blueprint.
    fn open(&self, e: &mut Emitter<'_>, head: Head, bp: &BlueprintDef);

    /// The bytes of a request, in `place`.
    fn request_data(&self, e: &mut Emitter<'_>, place: &str);

    /// In a generate function: the queue that the copy is for.
    fn choose_queue(&self, e: &mut Emitter<'_>);

    /// In the same function, of a packet of frames: `copy`, of `bp`, whose payloads can be cut.
    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// Behind that: `e`, an entry for the copy. The function returns if there is none.
    fn place(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// Behind that: all of the entry is there, `e` or `old`, which represents both. The function returns.
    fn entry_waits(&self, e: &mut Emitter<'_>, entry: &str);

    /// In a function that makes a packet or a frame, behind its header: the payload, and its sum, `payload_sum`.
    fn payload_written(&self, e: &mut Emitter<'_>, payload: Payload, bp: &BlueprintDef);

    /// Whether the header of a received packet can be longer than what is read of it at once.
    fn reads_beyond_window(&self, _e: &Emitter<'_>, _bp: &BlueprintDef) -> bool {
        false
    }

    /// The function that reads a list of options, over that which reads one.
    fn options_loop(&self, e: &mut Emitter<'_>, list: &OptListDef);
}

/// What some kinds of targets do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// functions pass the chain to each other, and not only the core
    ChainArgument,
    /// functions that return nothing
    VoidFunctions,
    /// division of signed numbers
    SignedDivision,
    /// samples of contexts in a trace
    Samples,
    /// lists, and runs of windows, that lie beside the instances that they belong to
    Beside,
    /// each header is written where it is in its packet
    HeadersInPlace,
    /// packets that leave in one frame, where the host has an engine that makes them of it
    JoinedPackets,
}

/// A struct with members that the program does not see.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// a packet that is parsed
    Packet,
    /// an instance of a context
    Instance(&'a ContextDef),
    /// one run of a chain
    Chain,
    /// an entry of the queue
    Entry,
}

/// A function on a blueprint.
#[derive(Debug, Clone, Copy)]
pub enum Head {
    /// queues a copy of `bp`
    Generate,
    /// makes a packet of an entry, `e`, at `out`, where `cap` bytes can be
    Packet,
    /// lets the current packet leave with another header, `h`
    Forward,
}

/// What a packet or a frame carries.
#[derive(Debug, Clone, Copy)]
pub enum Payload {
    /// of a packet with one payload: bytes of it; with the number of the blueprint
    Whole(usize),
    /// the same of a frame
    OfFrame(usize),
    /// all frames of a packet
    Frames,
    /// what the current packet carries
    Forwarded,
}
