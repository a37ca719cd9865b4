//! `carrick trace`

mod session;
mod spec;

use std::io::{BufWriter, LineWriter};
use std::process::ExitCode;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::probe::{self, Asked, Unanswered};
use carrick_ir::Program;
use carrick_sim::scenario::host_config;
use carrick_sim::watch::{Spec, Watch, line};
use clap::{Args, ValueEnum};

use super::scenario::{self, Between, ScenarioArgs, ViaArgs};
use crate::args::Source;
use crate::output::{self, Format};
use crate::stack::Stack;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HostName {
    /// it opens connections
    Client,
    /// it listens
    Server,
}

#[derive(Debug, Args)]
pub struct TraceArgs {
    #[command(flatten)]
    pub source: Source,
    /// stop at this line ([FILE:]LINE) or at the beginning of this function, if --when (over what can be named there) holds, and obey
    /// standard input: `help` tells what can be said; for each of several, say it again
    #[arg(long = "break", value_name = "PLACE", conflicts_with_all = ["on", "sample", "list", "show", "at", "context", "host", "most", "compiled", "format"], help_heading = "What to look at")]
    pub breaks: Vec<String>,
    /// show the context after each of these events, and what it was before; for each of several, say it again
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["sample", "list"], help_heading = "What to look at")]
    pub on: Vec<String>,
    /// show a context when this comes true for it; with --on, --sample, --list or --at: only where it holds
    #[arg(long, value_name = "CONDITION", help_heading = "What to look at")]
    pub when: Option<String>,
    /// show these of each context, again and again
    #[arg(long, value_name = "EXPRESSIONS", requires = "every", conflicts_with_all = ["list", "show"], help_heading = "What to look at")]
    pub sample: Option<String>,
    /// virtual time between samples: 1ms, 50us
    #[arg(long, value_name = "DURATION", requires = "sample", help_heading = "What to look at")]
    pub every: Option<String>,
    /// list the contexts that there are at the times of --at, or at the end
    #[arg(long, help_heading = "What to look at")]
    pub list: bool,
    /// a virtual time, for --list and --set; for each of several, say it again
    #[arg(long, value_name = "TIME", conflicts_with_all = ["on", "sample"], help_heading = "What to look at")]
    pub at: Vec<String>,
    /// what to show of a context: expressions; without it everything
    #[arg(long, value_name = "EXPRESSIONS", help_heading = "What to look at")]
    pub show: Option<String>,
    /// the contexts that are meant, if that is not clear
    #[arg(long, help_heading = "What to look at")]
    pub context: Option<String>,
    /// look at one host only
    #[arg(long, value_enum, help_heading = "What to look at")]
    pub host: Option<HostName>,
    /// change a field of the contexts that --on, --when or --at finds (context.field = value); or a parameter of the program (name=value)
    #[arg(long, value_name = "CHANGE", help_heading = "What to look at")]
    pub set: Vec<String>,
    /// end the run after so many lines
    #[arg(long, value_name = "LINES", help_heading = "What to look at")]
    pub most: Option<u64>,
    /// run the compiled core, not the interpreter
    #[arg(long)]
    pub compiled: bool,
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
    /// look at a stack on a device of this machine, not into the simulator: what follows is for it, as of `carrick run`
    #[arg(long, value_name = "STACK", num_args = 1.., allow_hyphen_values = true, conflicts_with_all = ["breaks", "compiled", "host", "ScenarioArgs", "ViaArgs"])]
    pub run: Vec<String>,
    // Not one in the other: to clap a group with a group in it is empty, and `--run` conflicts with nothing of it.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    #[command(flatten)]
    pub way: ViaArgs,
}

pub fn run(args: &TraceArgs) -> Result<ExitCode, Failure> {
    let (compiled, asked) = probe::open(&args.source.file, &args.source.features.choice())?;
    output::diagnostics(&compiled);
    let asked = asked.ok_or_else(|| Failure::Failed(output::summary(&compiled)))?;
    let (changes, settings) = spec::changes_and_settings(&args.set);
    if !args.breaks.is_empty() {
        if let Some(change) = changes.first() {
            let text = format!("`{change}`: where a run stops, `set` changes contexts; leave out --set");
            return Err(Failure::Usage(text));
        }
        return session::run(args, asked, &settings).or_else(refuse);
    }
    let spec = match spec::spec(args, &asked, &changes) {
        Ok(spec) => spec,
        Err(unanswered) => return refuse(unanswered),
    };
    let format = match args.format {
        Format::Json => line::Format::Json,
        Format::Pretty => line::Format::Pretty,
    };
    let Asked { program, .. } = &asked;
    if !args.run.is_empty() {
        return on_device(program, &args.run, spec, format);
    }
    let scenario = args.scenario.scenario(program, &settings)?;
    let (engine, _library) = scenario::engine(program, args.compiled, Tracing::On)?;
    let between = args.way.between(args.compiled, Tracing::On)?;
    let way = between.as_ref().map(Between::way);
    let out = BufWriter::new(std::io::stdout().lock());
    let configs = [0, 1].map(|host| host_config(&scenario, host, false));
    let mut watch = Watch::new(program, &configs, spec, format, out).map_err(Failure::Usage)?;
    let report = carrick_sim::run_through(program, &engine, way.as_ref(), &scenario, &mut watch, true)
        .map_err(Failure::Usage)?;
    let whole = !watch.cut_short();
    watch.finish(report.ended_at).map_err(Failure::Failed)?;
    if whole {
        report.failures.iter().for_each(|failure| eprintln!("the run: {failure}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at a stack that runs, line by line as there is something to see.
fn on_device(
    program: &Arc<Program>,
    args: &[String],
    spec: Spec,
    format: line::Format,
) -> Result<ExitCode, Failure> {
    let (stack, mut records) = Stack::start_telling(program, args)?;
    if records.configs.is_empty() {
        return Ok(stack.wait());
    }
    let out = LineWriter::new(std::io::stdout().lock());
    let mut watch = Watch::new(program, &records.configs, spec, format, out).map_err(Failure::Usage)?;
    let ended_at = records.tell(&mut watch).map_err(Failure::Failed)?;
    let whole = !watch.cut_short();
    watch.finish(ended_at).map_err(Failure::Failed)?;
    Ok(if whole { stack.wait() } else { ExitCode::SUCCESS })
}

/// Says what is wrong with a question on the command line.
fn refuse(unanswered: Refusal) -> Result<ExitCode, Failure> {
    match unanswered {
        Refusal::Usage(failure) => Err(failure),
        Refusal::Question(Unanswered::Refused(sentence)) => Err(Failure::Usage(sentence)),
        Refusal::Question(Unanswered::Wrong(compiled)) => {
            output::diagnostics(&compiled);
            Ok(ExitCode::from(2))
        }
    }
}

/// Why there is nothing to look at.
pub enum Refusal {
    Usage(Failure),
    Question(Unanswered),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Usage(failure)
    }
}

impl From<Unanswered> for Refusal {
    fn from(unanswered: Unanswered) -> Refusal {
        Refusal::Question(unanswered)
    }
}
