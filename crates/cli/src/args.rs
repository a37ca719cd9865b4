// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use carrick_driver::{Choice, Over};
use carrick_report::plot::Figure;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::output::Format;

/// The target of commands that name none.
pub const TARGET: &str = "native";

/// Transport protocols as programs: check, simulate, build and run them.
#[derive(Debug, Parser)]
#[command(
    name = "carrick",
    version = env!("CARRICK_VERSION"),
    before_help = "Example: carrick sim stream.mtp --loss 1% --delay 10ms --rate 100Mbps --bytes 10MB --seed 7",
    max_term_width = 100
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a protocol from a template
    #[command(before_help = "Example: carrick new parcel --template stream")]
    New(New),
    /// Check programs and report all errors
    #[command(before_help = "Example: carrick check stream.mtp --target native")]
    Check(Check),
    /// Format programs
    #[command(before_help = "Example: carrick fmt stream.mtp")]
    Fmt(Fmt),
    /// Build a program for a target: sources, a Makefile, a library
    #[command(before_help = "Example: carrick build stream.mtp --target native -o out")]
    Build(Build),
    /// Run a program in the simulator
    #[command(
        before_help = "Example: carrick sim stream.mtp --loss 1% --delay 10ms --rate 100Mbps --bytes 10MB --seed 7 --pcap out.pcapng"
    )]
    Sim(Box<crate::commands::sim::SimArgs>),
    /// Inspect and change the contexts of a running program
    #[command(
        before_help = "Example: carrick trace stream.mtp --sample cwnd,snd_una --every 10ms --loss 1% --bytes 10MB"
    )]
    Trace(Box<crate::commands::trace::TraceArgs>),
    /// Run a program on a network device of this machine
    #[command(
        before_help = "Example: carrick run stream.mtp --port tun:carrick0 --addr 10.7.0.2/24 --app http:www"
    )]
    Run(Run),
    /// Compare the interpreter with the compiled core over random networks and applications
    #[command(before_help = "Example: carrick diff stream.mtp --seeds 200")]
    Diff(crate::commands::diff::DiffArgs),
    /// Explain a diagnostic
    #[command(before_help = "Example: carrick explain MTP0201")]
    Explain(Explain),
    /// Write an HTML page about a program: headers, events, processors, state
    #[command(before_help = "Example: carrick doc stream.mtp -o stream.html")]
    Doc(Doc),
    /// Write a Wireshark dissector for a program's packets
    #[command(before_help = "Example: carrick dissect stream.mtp -o stream.lua")]
    Dissect(Dissect),
    /// Draw the headers of a program, bit by bit
    #[command(before_help = "Example: carrick layout stream.mtp --with sack")]
    Layout(Layout),
    /// Join the results of shards into one result
    #[command(before_help = "Example: carrick merge part-1.csv part-2.csv -o flows.csv")]
    Merge(Merge),
    /// Draw tables of results: slowdowns, completion times, queues, goodput
    #[command(before_help = "Example: carrick plot one.csv other.csv --what slowdown -o slowdown.svg")]
    Plot(Plot),
    /// Reproduce an artefact and compare: exit 1 with the first difference
    #[command(before_help = "Example: carrick repro flows.csv")]
    Repro(Repro),
    /// Draw a recorded run as an HTML page: packets, curves, queues, and the line that handled each event
    #[command(before_help = "Example: carrick report stream.run -o report.html")]
    Report(Report),
    /// List the targets and what each supports
    #[command(before_help = "Example: carrick targets")]
    Targets(Targets),
    /// Start the language server, on standard input and output
    #[command(before_help = "Example: carrick lsp (started by an editor, see editors/README.md)")]
    Lsp(Lsp),
    /// Print completions for a shell
    #[command(
        before_help = "Example: carrick completions bash > ~/.local/share/bash-completion/completions/carrick"
    )]
    Completions(Completions),
    /// Write the manual pages
    #[command(before_help = "Example: carrick man ~/.local/share/man/man1")]
    Man(Man),
}

#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// Shell to complete for
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
pub struct Man {
    /// Folder for the pages; created if missing
    pub dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct New {
    /// Folder to create; its name is the name of the protocol
    pub path: PathBuf,
    /// Template
    #[arg(short, long, value_enum, default_value = "stream")]
    pub template: Template,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Template {
    /// A reliable byte stream with a window of segments
    Stream,
    /// Messages of one packet each, delivered once and in order
    Message,
    /// Messages of many packets; the receiver grants when they are sent
    ReceiverDriven,
    /// An in-network program between two ends: it delays packets above a rate
    InNetwork,
}

/// Which features a build has.
#[derive(Debug, Clone, ClapArgs)]
pub struct Features {
    /// Features to build with, for example reliable,inorder=hold
    #[arg(long, value_name = "FEATURE[=OPTION]", value_delimiter = ',')]
    pub with: Vec<String>,
    /// Default features to leave out
    #[arg(long, value_name = "FEATURE", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Internet Protocol version of a program over `inet` (default ipv4)
    #[arg(long, value_name = "VERSION")]
    pub over: Option<Version>,
}

/// A version of the Internet Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Version {
    /// 32-bit addresses
    Ipv4,
    /// 128-bit addresses
    Ipv6,
}

impl Features {
    pub fn choice(&self) -> Choice {
        let mut choice = Choice { without: self.without.clone(), ..Choice::default() };
        self.with.iter().for_each(|text| choice.add(text));
        if self.over == Some(Version::Ipv6) {
            choice.over = Over::Ipv6;
        }
        choice
    }
}

/// A program and what it is built with.
#[derive(Debug, Clone, ClapArgs)]
pub struct Source {
    /// Program (.mtp), or its table (.json)
    pub file: PathBuf,
    #[command(flatten)]
    pub features: Features,
}

impl fmt::Display for Source {
    /// As it is said on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        for (flag, names) in [("--with", &self.features.with), ("--without", &self.features.without)] {
            if !names.is_empty() {
                write!(f, " {flag} {}", names.join(","))?;
            }
        }
        if self.features.over == Some(Version::Ipv6) {
            write!(f, " --over ipv6")?;
        }
        Ok(())
    }
}

/// Whether a command goes on after its work is done.
#[derive(Debug, Clone, ClapArgs)]
pub struct Watching {
    /// Repeat whenever a file of the program changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Dissect {
    #[command(flatten)]
    pub source: Source,
    /// Script to write; `-` is standard output (default: NAME.lua in the current folder)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// Parameter that the parser uses: name=value
    #[arg(long)]
    pub set: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Doc {
    /// A requirements.toml next to the program is included
    #[command(flatten)]
    pub source: Source,
    /// Page to write (default: NAME.html in the current folder)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub watching: Watching,
}

#[derive(Debug, ClapArgs)]
pub struct Report {
    /// Trace of `carrick sim --trace`, or tables of `carrick sim --csv` and `--timeline` to compare
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Page to write
    #[arg(short, long, default_value = "report.html")]
    pub output: PathBuf,
    /// Field of a context to draw (`field` or `context.field`); repeat for several (default: the fields that change most)
    #[arg(long, value_name = "FIELD")]
    pub plot: Vec<String>,
    /// Program of the run, if its file has moved
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub features: Features,
}

#[derive(Debug, ClapArgs)]
pub struct Merge {
    /// Results of `carrick sim --shard`: tables (--csv) or JSON (--format json); all shards, in any order
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// File to write (default: standard output)
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Plot {
    /// Tables of `carrick sim --csv`, `--timeline`, `--rates` or `--samples`; each curve is named after its file
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Drawing to write (SVG)
    #[arg(short, long, default_value = "plot.svg")]
    pub output: PathBuf,
    /// Figure: slowdown or completion (of --csv); queues, goodput or utilisation (of --timeline); rates (of --rates); samples (of --samples). Omit for the first that the tables have
    #[arg(long, value_name = "FIGURE")]
    pub what: Option<What>,
}

/// Which drawing.
#[derive(Debug, Clone, Copy)]
pub struct What(pub Figure);

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<What, String> {
        let known = Figure::ALL.into_iter().find(|figure| figure.name() == text);
        known.map(What).ok_or_else(|| format!("say one of {}", Figure::ALL.map(Figure::name).join(", ")))
    }
}

#[derive(Debug, ClapArgs)]
pub struct Repro {
    /// Artefacts of `carrick sim`, `carrick report` or `carrick plot`: tables, JSON results, traces, captures, pages, drawings
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Lsp {
    /// Accepted because some editors pass it; standard input and output are always used
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Check {
    /// Programs (.mtp)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Target to check against: its name, or a target file (.toml)
    #[arg(long)]
    pub target: Option<String>,
    #[command(flatten)]
    pub features: Features,
    /// Check every combination of features that `requires` and `excludes` allow
    #[arg(long, conflicts_with_all = ["with", "without", "ir"])]
    pub combinations: bool,
    /// Print the intermediate representation of each correct program
    #[arg(long)]
    pub ir: bool,
    #[command(flatten)]
    pub watching: Watching,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Fmt {
    /// Programs (.mtp); `-` formats standard input to standard output
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not formatted
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Build {
    #[command(flatten)]
    pub source: Source,
    /// Target to build for (`carrick targets` lists them), or a target file (.toml) with the name of one
    #[arg(long, default_value = TARGET)]
    pub target: String,
    /// Folder to write
    #[arg(short, long, required_unless_present = "explain_placement")]
    pub output: Option<PathBuf>,
    /// Build nothing; print where each chain runs on the target, and why
    #[arg(long, conflicts_with = "output")]
    pub explain_placement: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty", requires = "explain_placement")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    /// Trace file (JSON lines), as of `carrick sim`; `carrick report` draws it
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Target to run on
    #[arg(long, default_value = TARGET)]
    pub target: String,
    /// Print also all that a tool says when it rejects the program
    #[arg(long)]
    pub verbose: bool,
    /// Options of the stack
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub stack: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Explain {
    /// Code: MTP0123, or 123. Omit to list all
    pub code: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Layout {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub watching: Watching,
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Targets {
    /// Output format
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}
