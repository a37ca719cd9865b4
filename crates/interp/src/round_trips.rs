// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of random values in and out of each declared range and width, of every program of the repository: what is read of a
//! packet equals what was put into it, or no packet was made and a counter says why.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, Expr, ExprKind, NetField, Program, Ty, arith, walk};
use carrick_syntax::assemble::assemble;
use carrick_syntax::assemble::features::{self, Choice};
use carrick_syntax::ast::{File, ItemKind};

use crate::api::{Config, Data};
use crate::core::Core;
use crate::counters::{TX_BAD_FIELD, TX_TOO_LONG};
use crate::instr::request_addr;
use crate::ip;
use crate::layout::{PAYLOAD_ADDR, PAYLOAD_CTX, PAYLOAD_LEN, PAYLOAD_OF_REQUEST};
use crate::linked::{QUEUE, WORK};
use crate::rand::Pcg32;

/// Packets of each blueprint.
const PACKETS: u64 = 60;
/// Of a program with more combinations of features, each feature is taken alone.
const COMBINATIONS: usize = 64;
/// Bits of a variable-length integer (RFC 9000 §16).
const VARINT_BITS: u32 = 62;
/// Between packets, so that no rate keeps one back, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;
const ADDRESS: u32 = 0x0a00_0001;
/// The memory that payloads are of.
static MEMORY: [u8; 60_000] = [0x5a; 60_000];

struct Dice(Pcg32);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        let word = u64::from(self.0.next()) << 32 | u64::from(self.0.next());
        word % n.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number of any size.
    fn number(&mut self) -> u64 {
        let word = u64::from(self.0.next()) << 32 | u64::from(self.0.next());
        word >> self.below(64)
    }

    /// A value that a program can have in a field when it makes a packet: one that fits, or nearly does; without a range, the
    /// assignment has cut it to so many bits.
    fn field(&mut self, program: &Program, field: &BpField, bits: u32) -> u64 {
        let width = match &field.ty {
            Ty::Enum(id) => arith::shape(&program.enums[id.index()].repr).0,
            ty => arith::shape(ty).0,
        };
        let Some((lo, hi)) = field.range else {
            return arith::canonical(&field.ty, self.number() & u64::MAX >> (64 - width.min(bits)));
        };
        let value = match self.below(6) {
            0 => lo,
            1 => hi,
            2 => hi.wrapping_add(1),
            3 => lo.wrapping_sub(1),
            4 => self.number(),
            _ => lo + self.below((hi - lo).saturating_add(1)),
        };
        arith::canonical(&field.ty, value)
    }

    fn payload(&mut self) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => self.below(300),
            2 => 250 + self.below(10),
            _ => self.below(MEMORY.len() as u64),
        }
    }
}

/// A program with the core that makes and reads its packets.
struct Bench {
    program: Arc<Program>,
    core: Core,
    dice: Dice,
    /// the cells that packets are given in, and read into
    given: usize,
    read: usize,
}

impl Bench {
    fn new(program: Program) -> Bench {
        let program = Arc::new(program);
        let config = Config { address: ADDRESS.into(), mtu: 65_535, seed: 1, ..Config::default() };
        let mut core = Core::new(program.clone(), &config).expect("a core");
        let size = core.linked.blueprints.iter().map(|bp| bp.size).max().unwrap_or_default() as usize;
        let given = core.machine.mem.len();
        core.machine.mem.resize(given + 2 * size, 0);
        Bench { program, core, dice: Dice(Pcg32::of_seed(7)), given, read: given + size }
    }

    /// What the program says of the fields, as far as that is not left to it.
    fn fields(&mut self, bp: usize, at: usize) {
        let def = &self.program.blueprints[bp];
        let first = self.core.linked.layout.blueprints[bp].fields as usize;
        for (i, field) in def.fields.iter().enumerate() {
            if matches!(field.kind, BpFieldKind::Plain { .. }) && !field.is_padding() {
                let varint = def.parts.iter().any(|part| part.varint && part.first as usize == i);
                let bits = if varint { VARINT_BITS } else { field.bits };
                self.core.machine.mem[at + first + i] = self.dice.field(&self.program, field, bits);
            }
        }
        self.options(bp, at);
    }

    /// Some options, one of a kind; none that ends the list or that fills it up.
    fn options(&mut self, bp: usize, at: usize) {
        let mut kinds = HashSet::new();
        let layout = self.core.linked.layout.blueprints[bp].options.clone();
        let list = self.program.blueprints[bp].options.map(|list| &self.program.opt_lists[list.index()]);
        let pad = list.map_or(0, |list| list.pad);
        for (id, cell) in layout {
            let (opt, cell) = (&self.program.opts[id.index()], at + cell as usize);
            let bare = opt.len == 1 && (opt.kind == 0 || opt.kind == pad);
            if bare || self.dice.one_in(2) || !kinds.insert((opt.kind, opt.wide)) {
                continue;
            }
            let mem = &mut self.core.machine.mem;
            mem[cell] = 1;
            for (i, field) in opt.fields.iter().enumerate() {
                let bits = if field.varint { VARINT_BITS } else { 64 };
                let drawn = arith::canonical(&field.ty, self.dice.number() & u64::MAX >> (64 - bits));
                mem[cell + 1 + i] = field.fixed.unwrap_or(drawn);
            }
            if let Some(list) = &opt.list {
                let from = cell + 1 + opt.fields.len();
                let count = u64::from(list.least) + self.dice.below(u64::from(list.most - list.least) + 1);
                let parts = list.parts(&self.program);
                mem[from] = count;
                for (i, (_, ty)) in (0..count).flat_map(|_| &parts).enumerate() {
                    mem[from + 1 + i] = arith::canonical(ty, self.dice.number());
                }
            }
        }
    }

    /// A payload of memory; how long.
    fn payload(&mut self, bp: usize, at: usize, slot: (u32, u64)) {
        let def = &self.program.blueprints[bp];
        if def.payload_name.is_none() || def.frames.is_some() {
            return;
        }
        let cell = at + self.core.linked.blueprints[bp].payload as usize;
        let mem = &mut self.core.machine.mem;
        mem[cell + PAYLOAD_CTX as usize] = PAYLOAD_OF_REQUEST;
        mem[cell + PAYLOAD_LEN as usize] = self.dice.payload();
        let addr = request_addr(slot.0, MEMORY.len() as u64, slot.1);
        mem[cell + PAYLOAD_ADDR as usize..][..addr.len()].copy_from_slice(&addr);
    }

    fn net(&mut self, at: usize) {
        self.core.machine.init(&self.core.linked.net_init, at, at);
        let fields = self.program.net_header.fields.iter().zip(self.core.linked.layout.net_fields.clone());
        for (def, cell) in fields {
            if matches!(def.field, NetField::SrcIp | NetField::DstIp) {
                self.core.machine.mem[at + cell as usize] = 0x0a00_0002;
            }
        }
    }

    /// Makes a packet of the blueprint and reads it. What went wrong.
    fn round(&mut self, bp: usize) -> Result<(), String> {
        let size = self.core.linked.blueprints[bp].size as usize;
        self.core.machine.mem[self.given..self.given + size].fill(0);
        let open = self.core.machine.requests.accept(1, Data::Lent(&MEMORY)).expect("memory");
        self.net(self.given);
        self.fields(bp, self.given);
        self.payload(bp, self.given, (open.0, 1));
        let before = self.core.machine.counters;
        self.core.machine.now += PAUSE;
        self.core.machine.pkt_gen(&self.core.linked, (bp, self.given), 0, 0, None);
        let mut out = Vec::new();
        let made = self.core.machine.make_packet(&self.core.linked, &mut out);
        let sent = self.core.machine.mem[WORK as usize..WORK as usize + size].to_vec();
        while self.core.machine.make_packet(&self.core.linked, &mut Vec::new()) {}
        self.core.machine.complete(1, 0, 0, None);
        self.core.machine.requests.next();
        if !made {
            let counted = |n: usize| self.core.machine.counters[n] > before[n];
            let waits = self.core.machine.queue.free() < QUEUE;
            let known = counted(TX_BAD_FIELD) || counted(TX_TOO_LONG) || waits;
            return if known { Ok(()) } else { Err("vanished".into()) };
        }
        self.take(&out)?;
        self.core
            .machine
            .extract(&self.core.linked, bp, self.read)
            .map_err(|n| format!("refused its own packet: {}", carrick_ir::COUNTERS[n]))?;
        self.compare(bp, &sent)
    }

    /// The packet is the one that is received.
    fn take(&mut self, packet: &[u8]) -> Result<(), String> {
        let (p, m) = (&self.core.linked, &mut self.core.machine);
        let def = &p.program.net_header;
        if p.net_len == 0 {
            m.receive(p, &crate::ipv4::Header::default(), &[], packet);
            return Ok(());
        }
        let (header, net, rest) =
            ip::parse(def, packet, def.protocol, None).map_err(|n| carrick_ir::COUNTERS[n].to_owned())?;
        m.receive(p, &header, net, rest);
        Ok(())
    }

    /// What was read is what was sent, in every field that the packet has.
    fn compare(&mut self, bp: usize, sent: &[u64]) -> Result<(), String> {
        let program = self.program.clone();
        let def = &program.blueprints[bp];
        let layout = &self.core.linked.layout.blueprints[bp];
        let read = &self.core.machine.mem[self.read..self.read + sent.len()];
        let fixed = def.fixed_fields().len();
        for (i, field) in def.fields.iter().enumerate() {
            let (cell, is_sum) = (layout.fields as usize + i, !carries_a_value(field));
            // An optional field that is not there is read as zero.
            let absent = i >= fixed && read[cell] == 0;
            if !(is_sum || absent || field.is_padding()) && read[cell] != sent[cell] {
                return Err(format!("`{}`: sent {:#x}, read {:#x}", field.name, sent[cell], read[cell]));
            }
        }
        let list = def.options.map(|list| &program.opt_lists[list.index()]);
        let ends = layout.options.iter().skip(1).map(|(_, cell)| *cell).chain([layout.frames]);
        for ((id, from), to) in layout.options.iter().zip(ends) {
            let (opt, cells) = (&program.opts[id.index()], *from as usize..to as usize);
            // What fills up the list is read as an option.
            let pad = opt.len == 1 && list.is_some_and(|list| list.pad == opt.kind);
            if !pad && read[cells.clone()] != sent[cells.clone()] {
                let (sent, read) = (&sent[cells.clone()], &read[cells]);
                return Err(format!("option `{}`: sent {sent:x?}, read {read:x?}", opt.name));
            }
        }
        let len = layout.payload as usize + PAYLOAD_LEN as usize;
        let padding = self.core.linked.blueprints[bp].padding(sent[len]) as u64;
        let there = def.payload_name.is_some() && def.frames.is_none();
        if there && read[len] != sent[len] + padding {
            return Err(format!("payload: sent {} bytes, read {}", sent[len], read[len]));
        }
        Ok(())
    }
}

fn carries_a_value(field: &BpField) -> bool {
    matches!(field.kind, BpFieldKind::Plain { .. } | BpFieldKind::Computed(_))
}

/// Whether the program itself says in a field how long a packet's options or payload are.
fn says_its_lengths(program: &Program, def: &BlueprintDef) -> bool {
    let plain = |e: &Expr| {
        let mut found = false;
        walk::expressions(e, &mut |e| {
            if let ExprKind::BpField(at) = e.kind {
                found |= matches!(def.fields[at as usize].kind, BpFieldKind::Plain { .. });
            }
        });
        found
    };
    let list = def.options.map(|list| &program.opt_lists[list.index()].len);
    list.into_iter().chain(&def.payload_len).any(plain)
}

/// Every program of the repository.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    let main = |folder: PathBuf| folder.join(folder.file_name().expect("a name")).with_extension("mtp");
    let protocols = listed("protocols").into_iter().map(main);
    let all = protocols.chain(listed("tests/programs"));
    all.filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending == "mtp")).collect()
}

/// What of a program says how its packets lie.
fn wire(tree: &File) -> String {
    let of_wire = |kind: &ItemKind| {
        matches!(
            kind,
            ItemKind::Blueprint { .. }
                | ItemKind::Layout { .. }
                | ItemKind::Opt { .. }
                | ItemKind::OptList { .. }
        )
    };
    let items = tree.items.iter().filter(|item| of_wire(&item.kind));
    items.map(|item| format!("{:?}", item.kind)).collect()
}

/// All combinations of a program's features, or, where these are many, each alone.
fn choices(tree: &File) -> Vec<Choice> {
    if let Some(all) = features::combinations(tree).filter(|all| all.len() <= COMBINATIONS) {
        return all;
    }
    let alone = features::features(tree).flat_map(|feature| {
        let name = &feature.name.name;
        let options = feature.options.iter().map(|option| Some(option.name.clone())).chain([None]);
        let with = options.map(|option| Choice { with: vec![(name.clone(), option)], ..Choice::default() });
        with.chain([Choice { without: vec![name.clone()], ..Choice::default() }]).collect::<Vec<_>>()
    });
    alone.collect()
}

/// Those builds of a program whose packets differ.
fn builds(path: &Path) -> Vec<(String, Program)> {
    let mut read = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    let text = std::fs::read_to_string(path).expect("a readable program");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let program = assemble(&path.display().to_string(), &text, &mut read);
    let all = choices(&program.tree);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for choice in [Choice::default()].iter().chain(&all) {
        let configured = features::configure(&program.tree, choice);
        if configured.diagnostics.is_empty() && seen.insert(wire(&configured.tree)) {
            let (checked, said) = carrick_sema::check_sources(&configured.tree, "p", &program.sources);
            let checked = checked.unwrap_or_else(|| panic!("{name}: {said:?}"));
            found.push((format!("{name} {:?}", choice.with), carrick_lower::lower(checked)));
        }
    }
    found
}

#[test]
fn what_is_read_is_what_was_sent_or_nothing_was() {
    let mut rounds = 0;
    let mut wrong = Vec::new();
    for (name, program) in files().iter().flat_map(|path| builds(path)) {
        let mut bench = Bench::new(program);
        let program = bench.program.clone();
        for (at, def) in program.blueprints.iter().enumerate() {
            if def.frame || says_its_lengths(&program, def) {
                continue;
            }
            for _ in 0..PACKETS {
                rounds += 1;
                if let Err(why) = bench.round(at) {
                    wrong.push(format!("{name}: `{}`: {why}", def.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rounds > 100 * PACKETS, "only {rounds}");
}
