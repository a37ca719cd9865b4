// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timers of a program's instances, looked at where programs have them.

use carrick_ir::Program;

use crate::layout::TIMER_OCTETS;
use crate::load_error::{failed, told};
use crate::maps::{Mapped, fd};
use crate::object::Object;

/// A timer that runs.
pub(crate) struct Running {
    pub(crate) deadline: u64,
    /// among those that were started
    order: u64,
    /// which of its context, and that context's number: of a request
    pub(crate) number: u32,
    pub(crate) handle: u64,
}

/// The instances of a context with timers.
struct Instances {
    context: usize,
    timers: usize,
    slots: usize,
    /// bytes of an instance
    octets: usize,
    /// from one instance to the next
    stride: usize,
    mapped: Mapped,
}

/// The instances of all contexts with timers.
pub(crate) struct Timers(Vec<Instances>);

impl Timers {
    /// Maps the instances.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn new(object: &Object, program: &Program) -> Result<Timers, String> {
        let contexts = program.contexts.iter().enumerate().filter(|(_, c)| !c.timers.is_empty());
        let all = contexts.map(|(context, ctx)| {
            let map = object.map(&format!("slots_{context}"))?;
            let info = map.info().map_err(|e| told(&e))?;
            let (octets, slots) = (info.value_size() as usize, info.max_entries() as usize);
            let stride = octets.next_multiple_of(8);
            let mapped = Mapped::new(fd(map), slots * stride).map_err(failed("map the instances"))?;
            Ok(Instances { context, timers: ctx.timers.len(), slots, octets, stride, mapped })
        });
        Ok(Timers(all.collect::<Result<_, String>>()?))
    }

    /// The timer that fires first.
    pub(crate) fn first(&self) -> Option<Running> {
        self.0.iter().filter_map(Instances::first).min_by_key(|timer| (timer.deadline, timer.order))
    }
}

impl Instances {
    /// All places are looked at for each event of a comparison: nothing is copied from those without a running timer.
    fn first(&self) -> Option<Running> {
        let mut first: Option<Running> = None;
        for slot in 0..self.slots {
            let timers = slot * self.stride + self.octets - self.timers * TIMER_OCTETS;
            for at in 0..self.timers {
                let timer = timers + at * TIMER_OCTETS;
                if self.mapped.word(timer + 16) == 0 {
                    continue;
                }
                let (deadline, order) = (self.mapped.word(timer), self.mapped.word(timer + 8));
                if first.as_ref().is_none_or(|f| (deadline, order) < (f.deadline, f.order)) {
                    let generation = self.mapped.word(timers - 16) >> 32;
                    let handle = (self.context as u64 + 1) << 56 | generation << 32 | slot as u64;
                    let number = (self.context << 8 | at) as u32;
                    first = Some(Running { deadline, order, number, handle });
                }
            }
        }
        first
    }
}
