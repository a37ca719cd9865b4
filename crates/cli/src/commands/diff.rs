//! `carrick diff`

use std::cell::RefCell;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::{self, SharedLibrary, Tracing};
use carrick_interp::Config;
use carrick_ir::Program;
use carrick_kernel::{KernelCore, Refusal};
use carrick_sim::Scenario;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::{Pace, Via, diff_cores, diff_engine, diff_operations, diff_through};
use carrick_sim::interface::Interface;
use carrick_sim::scenario::{Engine, Make};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::scenario::ViaArgs;
use crate::args::Source;
use crate::output::{self, Format};

#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub source: Source,
    /// Number of seeds. Each seed runs random operations and, where the simulator has applications for the program's interface,
    /// random applications on a random network
    #[arg(long, default_value_t = 100)]
    pub seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of random operations for each seed, on two ends that exchange packets
    #[arg(long, default_value_t = 1200)]
    pub operations: u64,
    #[command(flatten)]
    pub way: ViaArgs,
    /// Place where the compiled program runs
    #[arg(long, value_enum, default_value = "native", conflicts_with_all = ["via"])]
    pub target: Where,
    /// Print also the kernel verifier's log when it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

/// What stands between the two ends of a comparison.
struct Between {
    program: Arc<Program>,
    compiled: Rc<CompiledProgram>,
    params: Vec<u64>,
    /// it must stay as long as the program that is loaded from it
    _library: SharedLibrary,
}

impl Between {
    fn of(args: &ViaArgs) -> Result<Option<Between>, Failure> {
        let Some((program, params)) = args.program()? else { return Ok(None) };
        let library = cc::shared_library(&program, Tracing::On)?;
        let compiled = CompiledProgram::load(&library.path, &program).map_err(Failure::Failed)?;
        Ok(Some(Between { program, compiled, params, _library: library }))
    }

    fn via(&self) -> Via<'_> {
        Via { program: &self.program, compiled: &self.compiled, params: self.params.clone() }
    }
}

/// Where the program runs that the interpreter is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// Compiled C, in this process
    Native,
    /// eBPF in this machine's kernel (needs root)
    Xdp,
}

/// The longest packet that fits into such a frame.
const LONGEST: u32 = 3000;

/// What was found: records that agree, and what does not, by seed.
type Found = (u64, Vec<(u64, String)>);

pub fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let (compared, wrong) = match args.target {
        Where::Native => compiled(args)?,
        Where::Xdp => in_kernel(args)?,
    };
    said(args, compared, &wrong);
    Ok(ExitCode::from(u8::from(!wrong.is_empty())))
}

/// Each seed with new cores in the kernel: packets that leave at once, and where their turn is asked for as everywhere.
fn in_kernel(args: &DiffArgs) -> Result<Found, Failure> {
    let program = super::load(&args.source)?;
    let object = cc::kernel_object(&program, Tracing::On)?;
    let refusal = Rc::new(RefCell::new(None));
    let make = |pace| cores_in_kernel(object.path.clone(), pace, refusal.clone());
    let spoken = Interface::of(&program).is_ok();
    let bar = output::progress_bar(args.seeds, "comparing");
    let (mut compared, mut wrong) = (0, Vec::new());
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let paced = [Pace::AtOnce, Pace::Asked].map(|pace| {
            let make = make(pace);
            diff_cores(&program, &mut |config: &Config| make(&program, config), pace, seed, args.operations)
        });
        // A frame has one page of the kernel's memory.
        let random = Scenario::random(seed);
        let scenario = Scenario { mtu: random.mtu.min(LONGEST), ..random };
        let whole = spoken.then(|| diff_engine(&program, &Engine::Made(make(Pace::Asked)), &scenario));
        for result in paced.into_iter().chain(whole) {
            if let Some(refusal) = refusal.take() {
                return Err(super::refused(refusal, args.verbose));
            }
            let result = result.map_err(Failure::Usage)?;
            compared += result.compared;
            wrong.extend(result.difference.into_iter().chain(result.failures).map(|what| (seed, what)));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok((compared, wrong))
}

/// Makes cores of an object in the kernel, and keeps why one could not be made.
fn cores_in_kernel(object: PathBuf, pace: Pace, refusal: Rc<RefCell<Option<Refusal>>>) -> Make {
    Rc::new(move |program, config| match KernelCore::new(&object, program.clone(), config, pace) {
        Ok(core) => Ok(Box::new(core)),
        Err(refused) => {
            let text = refused.to_string();
            refusal.replace(Some(refused));
            Err(text)
        }
    })
}

fn compiled(args: &DiffArgs) -> Result<Found, Failure> {
    let program = super::load(&args.source)?;
    let library = cc::shared_library(&program, Tracing::On)?;
    let compiled = CompiledProgram::load(&library.path, &program).map_err(Failure::Failed)?;
    let between = Between::of(&args.way)?;
    let via = between.as_ref().map(Between::via);
    // What no application of the simulator speaks is held by operations alone.
    let spoken = via.is_some() || Interface::of(&program).is_ok();
    let bar = output::progress_bar(args.seeds, "comparing");
    let (mut compared, mut wrong) = (0, Vec::new());
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let operations = diff_operations(&program, &compiled, seed, args.operations);
        let scenario =
            spoken.then(|| diff_through(&program, &compiled, via.as_ref(), &Scenario::random(seed)));
        for result in iter::once(operations).chain(scenario) {
            let result = result.map_err(Failure::Usage)?;
            compared += result.compared;
            let found = result.difference.into_iter().chain(result.failures);
            wrong.extend(found.map(|what| (seed, what)));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok((compared, wrong))
}

fn said(args: &DiffArgs, compared: u64, wrong: &[(u64, String)]) {
    match args.format {
        Format::Json => output::json(&json!({
            "seeds": args.seeds,
            "compared": compared,
            "wrong": wrong.iter().map(|(seed, what)| json!({"seed": seed, "what": what})).collect::<Vec<_>>(),
        })),
        Format::Pretty => {
            for (seed, what) in wrong {
                println!(
                    "seed {seed}: {what}\n  again: carrick diff {}{} --seed {seed} --seeds 1\n",
                    args.source, args.way
                );
            }
            println!(
                "{} seeds, {compared} records, packets and completions agree; {} differences or failures",
                args.seeds,
                wrong.len()
            );
        }
    }
}
