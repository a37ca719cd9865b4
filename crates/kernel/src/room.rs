//! How much room there is, which follows the program's parameters: how many instances, and how many octets their units hold.

use carrick_ir::{Expr, ParamId, Program, fold};

use crate::Refusal;

/// Keys that an index has beyond its instances: while one gets another id, both are there.
const BETWEEN_IDS: u64 = 64;
/// Requests whose octets are staged at once: two for each instance with units, but so many at least and at most.
const STAGED: (u64, u64) = (64, 512);

/// How many elements the maps of each context have with these values of the parameters; empty: the defaults.
///
/// # Errors
/// If a unit of data would have another size than the program was built with, or there is no room for so many instances.
pub(crate) fn room(program: &Program, params: &[u64]) -> Result<Vec<(String, u32)>, Refusal> {
    let mut elements = Vec::new();
    let mut transfers: u64 = 0;
    let built = |id: ParamId| program.params.get(id.index()).map(|p| p.default);
    let given = |id: ParamId| params.get(id.index()).copied().or_else(|| built(id));
    for (number, ctx) in program.contexts.iter().enumerate() {
        for octets in [&ctx.tx_capacity, &ctx.rx_capacity].into_iter().flatten() {
            if ring(program, octets, &built) != ring(program, octets, &given) {
                return Err(Refusal::Failed(format!(
                    "the room of `{}` for data is fixed when a program is built for the kernel; leave its parameters as they are, or change their defaults",
                    ctx.name
                )));
            }
        }
        if ctx.global {
            continue;
        }
        let instances = fold::fold(program, &ctx.capacity, &given).unwrap_or(1).max(1);
        if ctx.tx_capacity.is_some() || ctx.rx_capacity.is_some() {
            transfers = transfers.saturating_add(instances);
        }
        let keys = instances.saturating_add(BETWEEN_IDS);
        for (map, count) in
            [("slots", instances), ("free", instances), ("memory", instances), ("index", keys)]
        {
            let count = u32::try_from(count).map_err(|_| {
                Refusal::Failed(format!("there is no room for so many instances of `{}`", ctx.name))
            })?;
            elements.push((format!("{map}_{number}"), count));
        }
    }
    if transfers > 0 {
        let staged = transfers.saturating_mul(2).clamp(STAGED.0, STAGED.1);
        elements.push(("carrick_requests".to_owned(), staged as u32));
    }
    Ok(elements)
}

/// Octets of the ring of a unit.
fn ring(program: &Program, octets: &Expr, of: &dyn Fn(ParamId) -> Option<u64>) -> u64 {
    fold::fold(program, octets, of).unwrap_or(1).max(1).next_power_of_two()
}
