//! Blueprints that were issued: the first of a frame leaves in it, the others wait in the queue.

use carrick_ir::{EventKind, LocalId, Ty};

use crate::Emitter;

impl Emitter<'_> {
    pub(super) fn has_sent(&self) -> bool {
        self.p.events.iter().any(|e| e.kind == EventKind::Sent)
    }

    pub(super) fn entry_in_kernel(&mut self) {
        self.w.line("/* What a packet brings that has left. */");
        self.w.open(format!("struct {} {{", self.names.own("brought")));
        self.event_union(&[EventKind::Sent]);
        self.w.close("};");
        self.w.blank();
        self.w.line("/* A blueprint that was issued: packets are made of it one by one. */");
        self.w.open(format!("struct {} {{", self.names.own("entry")));
        self.w.line("uint64_t turn;   /* in the queue: twice its round there, and 1 more while it waits */");
        self.w.line("uint32_t held;   /* 1: somebody makes a packet of it, or changes it */");
        self.w.line("uint32_t kind;   /* which blueprint */");
        self.w.line("uint32_t sent;   /* the sent event's number + 1; 0: none */");
        self.w.line("uint64_t rules;  /* a bit for each segmentation rule */");
        self.w.line("uint64_t done;   /* octets of the payload that are out */");
        self.w.line("uint64_t handle; /* the context on which it was issued */");
        self.blueprint_union("bp", "what was issued");
        if !self.p.seg_rules.is_empty() {
            self.blueprint_union("cut", "of a payload in several packets: the last one made");
        }
        self.w.line(format!("struct {} brought;", self.names.own("brought")));
        self.w.close("};");
        self.w.blank();
    }

    fn blueprint_union(&mut self, name: &str, what: &str) {
        self.w.open(format!("union {{ /* {what} */"));
        self.w.line("uint8_t nothing;");
        for bp in self.p.blueprints.iter().filter(|bp| !bp.frame) {
            self.w.line(format!("struct {} {}_;", self.names.declared(&bp.name), bp.name));
        }
        self.w.close(format!("}} {name};"));
    }

    /// Members of the core.
    pub(super) fn entry_members(&mut self) {
        let entry = self.names.own("entry");
        self.w.line("bool vacant; /* no packet has the frame that is there */");
        self.w.line("bool alone;  /* one has: that of `entry`, which does not wait */");
        self.w.line("bool last;   /* of the entry that a packet was made of: no other follows */");
        self.w.line(format!("struct {entry} entry;"));
        let brought = self.names.own("brought");
        self.w.line(format!("struct {brought} bringing; /* what the next one that is issued brings */"));
        self.w.line(format!("struct {brought} brought;  /* what one brought that is out */"));
        self.w.line("uint32_t sent;        /* which; 0: nothing */");
        self.w.line("uint64_t sent_handle; /* the context on which it was issued */");
    }

    /// Finding, taking and giving back entries of the queue.
    pub(super) fn entry_functions(&mut self) {
        let text = self.named(QUEUE, &[("ENTRY", self.names.own("entry"))]);
        text.lines().for_each(|line| self.w.line(line));
        self.w.blank();
    }

    /// In a generate function: `e`, where the copy goes; it returns if there is no place.
    pub(super) fn place_entry(&mut self, index: usize, alone: &str) {
        let bp = &self.p.blueprints[index];
        let (entry, name) = (self.names.own("entry"), &bp.name);
        self.w.line(format!("bool alone = {}(core){alone};", self.names.own("fits")));
        self.w.line(format!("struct {entry} *e = alone ? &core->entry : {}();", self.names.own("reserve")));
        self.w.open("if (!e) {");
        self.w.line("core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;");
        self.w.line("return 0;");
        self.w.close("}");
        self.w.line(format!("e->kind = {index};"));
        self.w.line("e->sent = sent;");
        self.w.line("e->rules = rules;");
        self.w.line("e->done = 0;");
        self.w.line("e->handle = core->chain.handle;");
        self.w.line(format!("e->bp.{name}_ = *bp;"));
        if self.has_sent() {
            self.w.line("if (sent)");
            self.w.line("    e->brought = core->bringing;");
        }
    }

    /// In the same function, when all of the entry is there.
    pub(super) fn entry_is_there(&mut self) {
        self.w.line("core->vacant = false;");
        self.w.line("if (alone)");
        self.w.line("    core->alone = true;");
        self.w.line("else");
        self.w.line("    carrick_publish(&e->turn);");
    }

    /// `pkt_gen`, with the sent event that it brings.
    pub(crate) fn generate_call(&mut self, name: &str, bp: &str, rules: u64, sent: Option<LocalId>) {
        let mut number = 0;
        if let Some(local) = sent
            && let Ty::Event(event) = *self.local_type(local)
        {
            let (member, value) = (&self.p.events[event.index()].name, self.local(local));
            self.w.line(format!("core->bringing.event.{member}_ = {value};"));
            number = event.0 + 1;
        }
        self.w.line(format!("(void){name}_generate(core, &{bp}, {rules}u, {number}u);"));
    }

    /// The sent event of an entry that is out.
    pub(super) fn sent_in_kernel(&mut self) {
        let core = self.names.own("core");
        self.w.line("/* An entry is out: its sent event. */");
        self.w.open(format!("CARRICK_APART int {}(struct {core} *core) {{", self.names.own("sent")));
        self.w.line("if (!core)");
        self.w.line("    return 0;");
        self.w.line("CARRICK_UNUSED uint32_t sent = core->sent;");
        self.w.line("core->sent = 0;");
        for (index, event) in self.p.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Sent) {
            let Some(chain) = &self.p.chains[index] else { continue };
            let ty = self.names.declared(&event.name);
            self.w.open(format!("if (sent == {}) {{", index + 1));
            self.w.line(format!("CARRICK_UNUSED struct {ty} *e = &core->brought.event.{}_;", event.name));
            if let Some(ctx) = chain.context {
                let def = &self.p.contexts[ctx.index()];
                let (ty, name) = (self.names.declared(&def.name), self.names.own(&def.name));
                self.w.line(format!("struct {ty} *c = {name}_by_handle(core->sent_handle);"));
                self.w.line("if (c)");
                self.w.line("    e->flow__ = c->id__;");
                self.w.line("core->wanted = c ? core->sent_handle : UINT64_MAX;");
            }
            self.w.line(format!("core->due = {};", index + 1));
            self.w.close("}");
        }
        self.w.line("return 0;");
        self.w.close("}");
        self.w.blank();
    }

    /// Text with names of the program between `@`.
    pub(super) fn named(&self, text: &str, names: &[(&str, String)]) -> String {
        let same = ["core", "here", "shared", "fits", "reserve", "oldest", "packet", "refuse"];
        let same = same.map(|name| (name.to_uppercase(), self.names.own(name)));
        let text = same
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value));
        names.iter().fold(text, |text, (name, value)| text.replace(&format!("@{name}@"), value))
    }
}

const QUEUE: &str = include_str!("queue.c.in");
