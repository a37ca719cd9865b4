// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much room there is, which follows the program's parameters: how many instances, and how many bytes their units hold.

use carrick_ir::{
    ContextDef, Expr, ExprKind, Interface, ParamId, Program, SchedBlock, SchedInputs, fold, units, uses,
};

use crate::LoadError;
use crate::layout::{HELD_MORE, HELD_OCTETS, PIECE, staged_octets};

/// What the kernel's numbers of elements hold.
const MANY: u64 = 1 << 30;
/// Keys that an index has beyond its instances: while one gets another id, both are there.
const BETWEEN_IDS: u64 = 64;
/// Requests whose bytes are staged at once: two for each instance with units, one that sends and one that receives, but so
/// many at least. Of messages so many at most.
const STAGED: (u64, u64) = (64, 512);
/// Bytes of the ring of reports: so many for each instance, and so many at least. Each may have four requests open, and a
/// completion takes 48.
const REPORTS: (u64, u64) = (256, 1 << 20);
/// Inputs of scheduling blocks: a heap of so many has no more levels than programs look at (`CARRICK_LEVELS`).
const INPUTS: u32 = 1 << 24;

/// What a program has room for.
pub(crate) struct Room {
    /// of maps: how many elements
    pub elements: Vec<(String, u32)>,
    /// bytes of the units of all instances, of the requests that are open at once, and of stored packets; all else is small
    /// beside them
    octets: u64,
    /// what takes most of these
    most: Option<Share>,
}

/// What takes memory.
struct Share {
    /// in the plural
    name: String,
    /// how many there can be, and how the program says that
    count: u64,
    capacity: Expr,
    /// bytes of each
    each: u64,
}

impl Share {
    fn octets(&self) -> u64 {
        self.count.saturating_mul(self.each)
    }
}

/// Sees that there is memory for so much: the kernel allocates it when the program is loaded, and takes it from others.
///
/// # Errors
/// There is not so much free.
pub(crate) fn fits(program: &Program, params: &[u64], room: &Room, free: u64) -> Result<(), LoadError> {
    if room.octets <= free {
        return Ok(());
    }
    let Some(most) = &room.most else { return Ok(()) };
    let mib = |octets: u64| octets.div_ceil(1 << 20);
    Err(LoadError::Missing(format!(
        "there is not enough memory: {} {} of {} KiB each, and all requests, take {} MiB, of which {} are free; {}",
        most.count,
        most.name,
        most.each >> 10,
        mib(room.octets),
        free >> 20,
        less(program, params, &most.capacity, free)
    )))
}

/// What helps where it does not fit: fewer of what takes most, if a parameter says how many.
fn less(program: &Program, params: &[u64], capacity: &Expr, free: u64) -> String {
    let mut capacity = capacity;
    while let ExprKind::Cast(of) = &capacity.kind {
        capacity = of;
    }
    let ExprKind::Param(id) = &capacity.kind else { return "make room for fewer in the program".into() };
    let (name, mut fewer) = (&program.params[id.index()].name, params.to_vec());
    fewer.resize(program.params.len(), 0);
    for (param, value) in program.params.iter().zip(&mut fewer).skip(params.len()) {
        *value = param.default;
    }
    let fitting = |fewer: &[u64]| room(program, fewer).is_ok_and(|room| room.octets <= free);
    while fewer[id.index()] > 1 && !fitting(&fewer) {
        fewer[id.index()] /= 2;
    }
    format!("with `--set {name}={}` there is", fewer[id.index()])
}

/// How many elements the maps of each context have with these values of the parameters; empty: the defaults.
///
/// # Errors
/// If a unit of data would have another size than the program was built with, or there is no room for so many instances.
pub(crate) fn room(program: &Program, params: &[u64]) -> Result<Room, LoadError> {
    let mut elements = Vec::new();
    let (mut all, mut transfers, mut octets, mut most) = (0_u64, 0_u64, 0_u64, None);
    let built = |id: ParamId| program.params.get(id.index()).map(|p| p.default);
    let given = |id: ParamId| params.get(id.index()).copied().or_else(|| built(id));
    for (number, ctx) in program.contexts.iter().enumerate() {
        let rings = || [&ctx.tx_capacity, &ctx.rx_capacity].into_iter().flatten();
        let most_grown = ctx.rx_growth.as_ref().map(|growth| &growth.most);
        if rings().chain(most_grown).any(|size| ring(program, size, &built) != ring(program, size, &given)) {
            return Err(LoadError::Failed(format!(
                "the room of `{}` for data is fixed when a program is built for the kernel; leave its parameters as they are, or change their defaults",
                ctx.name
            )));
        }
        if ctx.global {
            continue;
        }
        let instances = fold::fold(program, &ctx.capacity, &given).unwrap_or(1).max(1);
        all = all.saturating_add(instances);
        let blocks = Blocks::of(program, ctx, &built, &given);
        if ctx.holds_data() {
            transfers = transfers.saturating_add(instances);
            let ring_of = |size: &Option<Expr>| size.as_ref().map_or(0, |size| ring(program, size, &built));
            let received = blocks
                .as_ref()
                .map_or_else(|| ring_of(&ctx.rx_capacity), |blocks| blocks.each * blocks.octets);
            let each = (PIECE as u64).saturating_add(ring_of(&ctx.tx_capacity)).saturating_add(received);
            let name = format!("instances of `{}` with units", ctx.name);
            let share = Share { name, count: instances, capacity: ctx.capacity.clone(), each };
            octets = octets.saturating_add(share.octets());
            most = greater(most, share);
        }
        if let Some(blocks) = blocks {
            octets = octets.saturating_add(blocks.pool.saturating_mul(blocks.octets));
            let count = instances.saturating_mul(blocks.each).saturating_add(blocks.pool);
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            elements.push((format!("blocks_{number}"), count));
            elements.push((format!("unused_{number}"), count));
        }
        let keys = instances.saturating_add(BETWEEN_IDS);
        for (map, count) in
            [("slots", instances), ("free", instances), ("memory", instances), ("index", keys)]
        {
            let count = u32::try_from(count).map_err(|_| {
                LoadError::Failed(format!("there is no room for so many instances of `{}`", ctx.name))
            })?;
            elements.push((format!("{map}_{number}"), count));
        }
    }
    if transfers > 0 {
        let staged = staged(program, transfers);
        octets = octets.saturating_add(staged * staged_octets(program) as u64);
        elements.push(("carrick_requests".to_owned(), staged as u32));
        elements.push(("carrick_open_others".to_owned(), staged as u32));
    }
    if let Some((count, packets)) = stored(program, &given)? {
        let maps = ["carrick_held", "carrick_held_free", "carrick_keys", "carrick_leaving"];
        elements.extend(maps.map(|map| (map.to_owned(), count)));
        octets = octets.saturating_add(packets.octets());
        most = greater(most, packets);
    }
    let reports = all.saturating_mul(REPORTS.0).clamp(REPORTS.1, MANY).next_power_of_two();
    elements.push(("carrick_reports".to_owned(), reports as u32));
    elements.extend(inputs(program, &given)?);
    let processors = aya::util::nr_cpus();
    let processors =
        processors.map_err(|(_, e)| LoadError::Failed(format!("cannot count processors: {e}")))?;
    elements.push(("carrick_frames".to_owned(), processors as u32));
    Ok(Room { elements, octets, most })
}

/// What takes more.
fn greater(most: Option<Share>, other: Share) -> Option<Share> {
    Some(most.filter(|most| most.octets() >= other.octets()).unwrap_or(other))
}

/// The packets that a program in the network stores or copies, and how many elements their maps have.
fn stored(
    program: &Program,
    given: &dyn Fn(ParamId) -> Option<u64>,
) -> Result<Option<(u32, Share)>, LoadError> {
    let Some(packets) = program.in_network.as_ref().filter(|_| uses::stores(program)) else {
        return Ok(None);
    };
    let most = fold::fold(program, packets, given).unwrap_or(0);
    let count = u32::try_from(most + HELD_MORE)
        .map_err(|_| LoadError::Failed("there is no room for so many stored packets".into()))?;
    let name = "stored packets".to_owned();
    Ok(Some((count, Share { name, count: count.into(), capacity: packets.clone(), each: HELD_OCTETS })))
}

/// The blocks of units that grow.
struct Blocks {
    /// for what each instance may always hold; a unit begins anywhere in a block, so it is one more than that fills
    each: u64,
    /// for what all units grow by
    pool: u64,
    /// of one in its map
    octets: u64,
}

impl Blocks {
    /// `None` if the units of a context do not grow.
    fn of(
        program: &Program,
        ctx: &ContextDef,
        built: &dyn Fn(ParamId) -> Option<u64>,
        given: &dyn Fn(ParamId) -> Option<u64>,
    ) -> Option<Blocks> {
        let (block, _) = units::blocks(program, ctx, built)?;
        let least = ring(program, ctx.rx_capacity.as_ref()?, built);
        let pool = fold::fold(program, &ctx.rx_growth.as_ref()?.pool, given).unwrap_or(0);
        Some(Blocks { each: least.div_ceil(block) + 1, pool: pool / block, octets: block + PIECE as u64 })
    }
}

/// How many requests are staged at once where so many instances have units: as many as fit into their number.
fn staged(program: &Program, transfers: u64) -> u64 {
    let parts = program.interface.as_ref().is_some_and(Interface::takes_parts);
    transfers.saturating_mul(2).clamp(STAGED.0, if parts { MANY } else { STAGED.1 })
}

/// How many elements the inputs of scheduling blocks are; nothing without blocks.
fn inputs(
    program: &Program,
    of: &dyn Fn(ParamId) -> Option<u64>,
) -> Result<Option<(String, u32)>, LoadError> {
    let instances = program.contexts.iter().filter(|ctx| !ctx.global);
    let instances = instances.map(|ctx| fold::fold(program, &ctx.capacity, of).unwrap_or(1).max(1));
    let flows = instances.fold(1, u64::saturating_add);
    let of_block = |block: &SchedBlock| match &block.inputs {
        SchedInputs::PerFlow(_) => flows,
        SchedInputs::Each(inputs) => inputs.len() as u64,
    };
    let all = program.schedule.blocks.iter().map(of_block).reduce(u64::saturating_add);
    let Some(all) = all else { return Ok(None) };
    match u32::try_from(all) {
        Ok(count) if count <= INPUTS => Ok(Some(("carrick_inputs".to_owned(), count))),
        _ => Err(LoadError::Failed(format!("there is no room for {all} queues of flows; {INPUTS} have it"))),
    }
}

/// Bytes of the ring of a unit.
fn ring(program: &Program, octets: &Expr, of: &dyn Fn(ParamId) -> Option<u64>) -> u64 {
    fold::fold(program, octets, of).unwrap_or(1).max(1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use carrick_driver::compile::compile_file;

    use super::*;

    #[test]
    fn stored_packets_take_memory() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/programs/in_network.mtp");
        let program = compile_file(&path).expect("it can be read").program.expect("it is right");
        let kept = program.params.iter().position(|param| param.name == "kept").expect("there is one");
        let mut params: Vec<u64> = program.params.iter().map(|param| param.default).collect();
        let few = room(&program, &params).expect("it has room");
        params[kept] = 100_000;
        let many = room(&program, &params).expect("it has room");
        assert_eq!(many.octets - few.octets, (100_000 - program.params[kept].default) * HELD_OCTETS);
        fits(&program, &params, &many, many.octets).expect("it fits");
        let refused = fits(&program, &params, &many, few.octets + (1 << 20)).expect_err("it does not fit");
        let said = refused.to_string();
        assert!(said.contains("100064 stored packets of 9 KiB each"), "{said}");
        assert!(said.contains("with `--set kept=97` there is"), "{said}");
    }
}
