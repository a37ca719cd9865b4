// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all parts of the emitter work on; each adds methods for what it writes. And what differs between processes and a
//! target that verifies programs: where things lie, what a verifier has to see, and what instructions stand on. The emitter
//! asks its dialect, and never which target it writes for.

use carrick_ir::{
    Block, BlueprintDef, ContextDef, EventId, Expr, FuncId, Function, LocalId, NetLayer, OptListDef, Program,
    Stmt, Ty,
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
    /// What a processor's function hands on to those that it calls, beside the core.
    fn chain(&self) -> &'static str;

    /// A whole function of the program.
    fn function<'p>(&self, e: &mut Emitter<'p>, function: &'p Function);

    /// The end of a function that returns nothing.
    fn nothing(&self) -> &'static str;

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

    /// What the condition of a loop over at most `n` elements begins with: that its index is in the room for them.
    fn within(&self, _index: &str, _n: u32) -> String {
        String::new()
    }

    /// Leaves a function with a value. False: as with any other.
    fn returns(&self, _e: &mut Emitter<'_>, _stmt: &Stmt, _value: &Expr) -> bool {
        false
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

    /// Whether a core writes samples of contexts.
    fn has_samples(&self) -> bool {
        false
    }

    /// What the condition of a loop of so many turns ends with.
    fn goes_on(&self, _turns: u32) -> &'static str {
        ""
    }

    /// At the beginning of a loop's body, which counts with these numbers of these types.
    fn turn_begins(&self, _e: &mut Emitter<'_>, _stmt: &Stmt, _body: &Block, _counts: &[(&str, &str)]) {}

    /// Whether the machine divides signed numbers.
    fn divides_signed(&self) -> bool;

    /// `raise`: a copy of the event waits.
    fn raise(&self, e: &mut Emitter<'_>, event: EventId, name: &str, local: &str);

    /// `pkt_gen`, with the sent event that it brings. `call`: its beginning and its end, where other arguments may precede
    /// the queue.
    fn generate(&self, e: &mut Emitter<'_>, call: [&str; 2], sent: Option<LocalId>);

    /// Whether lists, and runs of windows, lie beside the instances that they belong to.
    fn keeps_beside(&self) -> bool {
        false
    }

    /// The bytes of a request, in `place`.
    fn request_data(&self, e: &mut Emitter<'_>, place: &str);

    /// Of the struct of a packet that is parsed: where it lies, and what no extract has taken.
    fn parsed(&self) -> [&'static str; 2];

    /// What the program does not see in the struct of an instance.
    fn instance_members(&self, e: &mut Emitter<'_>, ctx: &ContextDef);
    /// The same of a chain.
    fn chain_members(&self, e: &mut Emitter<'_>);
    /// The same of an entry of the queue.
    fn entry_members(&self, e: &mut Emitter<'_>);

    /// Opens the function that queues a copy of `bp`, a blueprint.
    fn generate_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// In a generate function: the queue that the copy is for.
    fn choose_queue(&self, e: &mut Emitter<'_>);

    /// In the same function: `e`, an entry for what carries `payload`; it returns if there is none.
    fn place(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// The same for a packet of frames: `copy`, of `bp`, whose payloads can be cut.
    fn copy_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);
    /// Behind that: `e`, an entry for it.
    fn place_frames(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// The end of the function: all of the entry is there.
    fn entry_is_there(&self, e: &mut Emitter<'_>);

    /// In the same function: where the entry stands in the queue.
    fn entry_place(&self, e: &Emitter<'_>) -> &'static str;

    /// Where the entry that waits, `old`, stands for both.
    fn coalesced(&self, e: &mut Emitter<'_>);

    /// The same, where it does not.
    fn not_coalesced(&self, _e: &mut Emitter<'_>) {}

    /// Opens the function that makes a packet of `e`, an entry, at `out`, where `cap` bytes can be.
    fn packet_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// Whether all headers are written at one place, and their network headers may be shorter than what is before it.
    fn writes_in_one_place(&self) -> bool {
        false
    }

    /// Whether packets can leave in one frame, where the host has an engine that makes them of it.
    fn joins(&self) -> bool {
        false
    }

    /// In the function that makes a packet, behind its header: the payload.
    fn payload_written(&self, e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef);
    /// The same of a frame.
    fn frame_written(&self, e: &mut Emitter<'_>, index: usize, bp: &BlueprintDef);
    /// The same of a packet of frames.
    fn frames_written(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// Whether the header of a received packet can be longer than what is read of it at once.
    fn reads_beyond_window(&self, _e: &Emitter<'_>, _bp: &BlueprintDef) -> bool {
        false
    }

    /// Opens the function that lets the packet that is looked at leave with another header, `h`.
    fn forward_begins(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// In the same function: the payload, and what `payload_sum` is.
    fn forward_payload(&self, e: &mut Emitter<'_>, bp: &BlueprintDef);

    /// The function that reads a list of options, over that which reads one.
    fn options_loop(&self, e: &mut Emitter<'_>, list: &OptListDef);
}
