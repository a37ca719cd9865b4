// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pipelines of a circuit, which XLS makes, and what is wrong with those that are too slow for the clock.

use std::path::Path;

use carrick_driver::targets::PipelineSpec;
use carrick_driver::{Failure, build, progress};
use carrick_ir::{Loc, Program};

use super::dslx::Design;
use super::xls::{Pipeline, Scheduled, Xls};

/// What XLS writes is not ours to keep free of warnings.
const LINT: [&str; 2] = ["UNUSEDSIGNAL", "WIDTH"];
/// The delay model that counts gates: its delays are no times.
const UNIT: &str = "unit";
const PS_OF_MHZ: u64 = 1_000_000;
/// How exactly the delay of a stage is found: this share of it.
const EXACT: u64 = 32;

/// A function that becomes a pipeline.
struct Function {
    name: String,
    /// for people
    what: String,
    loc: Loc,
}

/// A pipeline that is too slow.
struct Slow {
    function: Function,
    /// delay of its slowest stage, in picoseconds
    stage_ps: u64,
    /// how many stages are enough; none if one operation alone is too slow
    stages: Option<u64>,
}

/// Writes the pipelines of a design to a folder; the names of the files.
///
/// # Errors
/// Those of XLS; [`Failure::Usage`] with the pipelines that are too slow for the clock, or if the folder cannot be written.
pub fn write(
    program: &Program,
    design: &Design,
    settings: &PipelineSpec,
    dir: &Path,
) -> Result<Vec<String>, Failure> {
    let period = period(settings)?;
    let name = &program.name;
    let xls = Xls::load()?;
    let _step = progress::step(&format!("making the pipelines of {name}"));
    let ir = xls.convert(&design.text, name)?;
    let (mut files, mut slow) = (Vec::new(), Vec::new());
    for function in functions(program, design) {
        let module = format!("{name}_{}", function.name);
        let ir = xls.optimized(&ir, name, &function.name)?;
        let pipeline =
            Pipeline { module: &module, stages: settings.stages, delay_model: &settings.delay_model, period };
        match xls.pipeline(&ir, &pipeline)? {
            Scheduled::Verilog(verilog) => {
                let lint = |switch: &str| {
                    LINT.map(|name| format!("/* verilator lint_{switch} {name} */\n")).concat()
                };
                let text = lint("off") + &verilog + &lint("on");
                files.push(format!("{module}.v"));
                build::write(&dir.join(format!("{module}.v")), text.as_bytes())?;
            }
            Scheduled::Late(stages) => {
                let stage_ps = slowest_stage(&xls, &ir, &pipeline)?;
                slow.push(Slow { function, stage_ps, stages });
            }
        }
    }
    if slow.is_empty() { Ok(files) } else { Err(too_slow(program, settings, &slow)) }
}

/// What a stage may take, in picoseconds, where the target file sets a clock.
fn period(settings: &PipelineSpec) -> Result<Option<u64>, Failure> {
    match settings.clock_mhz {
        Some(_) if settings.delay_model == UNIT => Err(Failure::Usage(format!(
            "`clock_mhz` needs a `delay_model` whose delays are times, for example `sky130`: `{UNIT}` counts gates"
        ))),
        Some(0) => Err(Failure::Usage("`clock_mhz` is at least 1".into())),
        clock => Ok(clock.map(|mhz| PS_OF_MHZ / mhz)),
    }
}

/// The functions of a design that become pipelines: chains, and where packets go in and out, parser and builder.
fn functions(program: &Program, design: &Design) -> Vec<Function> {
    let chain = |(event, name): &(carrick_ir::EventId, String)| {
        let chain = program.chains[event.index()].iter();
        let processors = chain.flat_map(|chain| chain.present.iter().chain(chain.absent.iter().flatten()));
        let loc = processors.map(|processor| program.functions[processor.index()].loc).next();
        let what = format!("the chain of `{}`", program.events[event.index()].name);
        Function { name: name.clone(), what, loc: loc.unwrap_or_default() }
    };
    let mut all: Vec<Function> = design.chains.iter().map(chain).collect();
    if design.packets.is_ok() {
        let loc = program.functions[program.parser.index()].loc;
        for (name, what) in [("packet_in", "the parser of packets"), ("packet_out", "the builder of packets")]
        {
            all.push(Function { name: name.into(), what: what.into(), loc });
        }
    }
    all
}

/// The delay of the slowest of a pipeline's stages, in picoseconds: the shortest period for which XLS finds a schedule.
fn slowest_stage(xls: &Xls, ir: &str, pipeline: &Pipeline<'_>) -> Result<u64, Failure> {
    let fits = |period: u64| -> Result<bool, Failure> {
        let scheduled = xls.pipeline(ir, &Pipeline { period: Some(period), ..*pipeline })?;
        Ok(matches!(scheduled, Scheduled::Verilog(_)))
    };
    let mut below = pipeline.period.unwrap_or(1);
    let mut enough = below * 2;
    while !fits(enough)? {
        (below, enough) = (enough, enough * 2);
    }
    while enough - below > enough / EXACT {
        let middle = below.midpoint(enough);
        if fits(middle)? { enough = middle } else { below = middle }
    }
    Ok(enough)
}

/// What is wrong, and what to do.
fn too_slow(program: &Program, settings: &PipelineSpec, slow: &[Slow]) -> Failure {
    let (mhz, stages) = (settings.clock_mhz.unwrap_or(0), settings.stages);
    let mut text = format!(
        "the circuit of {} is too slow for `clock_mhz = {mhz}`: a stage may take {} ps",
        program.name,
        PS_OF_MHZ / mhz.max(1)
    );
    for Slow { function: Function { what, loc, .. }, stage_ps, .. } in slow {
        let file = program.file_of(*loc).raw();
        text.push_str(&format!(
            "\n  {file}:{}:{}: {what} takes about {stage_ps} ps in the slowest of its {stages} stages",
            loc.line, loc.col
        ));
    }
    // An operation that is too slow alone stays so, however many stages there are.
    let enough = slow.iter().map(|slow| slow.stages).collect::<Option<Vec<u64>>>();
    let fastest = PS_OF_MHZ / slow.iter().map(|slow| slow.stage_ps).max().unwrap_or(1);
    let most = enough.and_then(|stages| stages.into_iter().max());
    text.push_str(&match most {
        Some(most) => format!("\n  set `stages = {most}` in [pipeline] of the target file, or `clock_mhz = {fastest}`"),
        None => format!(
            "\n  one operation alone takes longer, so more stages are not enough; {stages} stages reach `clock_mhz = {fastest}`"
        ),
    });
    Failure::Usage(text)
}
