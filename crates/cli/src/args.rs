//! What can be said on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use carrick_driver::Choice;
use carrick_report::plot::Figure;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::output::Format;

/// Transport protocols as programs: check, simulate, build and run them.
#[derive(Debug, Parser)]
#[command(
    name = "carrick",
    version,
    before_help = "Example: carrick sim stream.mtp --loss 1% --delay 10ms --rate 100Mbps --bytes 10MB --seed 7",
    max_term_width = 100
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Begin a protocol of your own
    #[command(before_help = "Example: carrick new parcel --template stream")]
    New(New),
    /// Find all that is wrong with programs
    #[command(before_help = "Example: carrick check stream.mtp --target native")]
    Check(Check),
    /// Bring programs into the one layout
    #[command(before_help = "Example: carrick fmt stream.mtp")]
    Fmt(Fmt),
    /// Write what a target needs: C sources, a Makefile, a library
    #[command(before_help = "Example: carrick build stream.mtp --target native -o out")]
    Build(Build),
    /// Run a program in the simulator
    #[command(
        before_help = "Example: carrick sim stream.mtp --loss 1% --delay 10ms --rate 100Mbps --bytes 10MB --seed 7 --pcap out.pcapng"
    )]
    Sim(Box<crate::commands::sim::SimArgs>),
    /// Look into the contexts of a program that runs, and change them
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
    /// Say what a diagnostic means
    #[command(before_help = "Example: carrick explain MTP0201")]
    Explain(Explain),
    /// Write a page about a program: its headers, events, processors, state
    #[command(before_help = "Example: carrick doc stream.mtp -o stream.html")]
    Doc(Doc),
    /// Write a Wireshark dissector for a program's packets
    #[command(before_help = "Example: carrick dissect stream.mtp -o stream.lua")]
    Dissect(Dissect),
    /// Draw the headers of a program, bit by bit
    #[command(before_help = "Example: carrick layout stream.mtp --with sack")]
    Layout(Layout),
    /// Put the results of shards together: as if one run had made them all
    #[command(before_help = "Example: carrick merge part-1.csv part-2.csv -o flows.csv")]
    Merge(Merge),
    /// Draw tables of results, several in one drawing: slowdowns, completion times, queues, goodput
    #[command(before_help = "Example: carrick plot one.csv other.csv --what slowdown -o slowdown.svg")]
    Plot(Plot),
    /// Make an artefact again, and compare: exit 1 with the first difference
    #[command(before_help = "Example: carrick repro flows.csv")]
    Repro(Repro),
    /// Draw a recorded run as a page: packets, curves, queues, and the line that reacted to each event
    #[command(before_help = "Example: carrick report stream.run -o report.html")]
    Report(Report),
    /// List the targets and what they have
    #[command(before_help = "Example: carrick targets")]
    Targets(Targets),
    /// Serve an editor: the language server protocol on standard input and output
    #[command(before_help = "Example: carrick lsp (started by an editor, see editors/README.md)")]
    Lsp(Lsp),
    /// Print the completions of a shell
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
    /// whose completions
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
pub struct Man {
    /// the folder to write, made if it is not there
    pub dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub struct New {
    /// the folder to make, named as the protocol
    pub path: PathBuf,
    /// what it begins with
    #[arg(short, long, value_enum, default_value = "stream")]
    pub template: Template,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Template {
    /// a reliable stream of octets over a window of segments
    Stream,
    /// messages, each a packet, that arrive once and in order
    Message,
    /// messages of many packets, of which the receiver says when they are sent
    ReceiverDriven,
    /// a program between two ends: it holds back what comes too fast
    InNetwork,
}

/// Which features a build has.
#[derive(Debug, Clone, ClapArgs)]
pub struct Features {
    /// features to build with: reliable,inorder=hold
    #[arg(long, value_name = "FEATURE[=OPTION]", value_delimiter = ',')]
    pub with: Vec<String>,
    /// features to leave out that the program has by default
    #[arg(long, value_name = "FEATURE", value_delimiter = ',')]
    pub without: Vec<String>,
}

impl Features {
    pub fn choice(&self) -> Choice {
        let mut choice = Choice { without: self.without.clone(), ..Choice::default() };
        self.with.iter().for_each(|text| choice.add(text));
        choice
    }
}

/// A program and what it is built with.
#[derive(Debug, Clone, ClapArgs)]
pub struct Source {
    /// a program (.mtp)
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
        Ok(())
    }
}

/// Whether a command goes on after its work is done.
#[derive(Debug, Clone, ClapArgs)]
pub struct Watching {
    /// do it again whenever a file of the program changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Dissect {
    #[command(flatten)]
    pub source: Source,
    /// the script (default: the program's name with .lua, here); `-` is standard output
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// a parameter of the program, if its parser uses it: name=value
    #[arg(long)]
    pub set: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Doc {
    /// requirements.toml beside the program is told of too
    #[command(flatten)]
    pub source: Source,
    /// the page to write; without it NAME.html here
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub watching: Watching,
}

#[derive(Debug, ClapArgs)]
pub struct Report {
    /// what `carrick sim --trace` wrote; or tables of `carrick sim --csv` and `--timeline`, as many as are to be compared
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// the page to write
    #[arg(short, long, default_value = "report.html")]
    pub output: PathBuf,
    /// a field of a context to draw (`field`, or `context.field`), as often as wanted; without it those that tell most
    #[arg(long, value_name = "FIELD")]
    pub plot: Vec<String>,
    /// the program of the run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub features: Features,
}

#[derive(Debug, ClapArgs)]
pub struct Merge {
    /// what `carrick sim --shard` made: tables (--csv), or what it printed (--format json); all of the shards, in any order
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// the file to write; without it standard output
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Plot {
    /// tables of `carrick sim --csv` or `--timeline`; their curves are called as the files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// the drawing to write (SVG)
    #[arg(short, long, default_value = "plot.svg")]
    pub output: PathBuf,
    /// slowdown or completion (of --csv), queues, goodput or utilisation (of --timeline); without it the first of them
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
    /// what `carrick sim`, `carrick report` or `carrick plot` made: a table, a result as JSON, a trace, a capture, a page, a drawing
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub struct Lsp {
    /// accepted, for editors that say so: there is no other way to talk to it
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Check {
    /// programs (.mtp)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// also check that this target has all that the program uses: its name, or a target file (.toml)
    #[arg(long)]
    pub target: Option<String>,
    #[command(flatten)]
    pub features: Features,
    /// check every combination of features that `requires` and `excludes` allow
    #[arg(long, conflicts_with_all = ["with", "without", "ir"])]
    pub combinations: bool,
    /// print the intermediate representation of each program that is right
    #[arg(long)]
    pub ir: bool,
    #[command(flatten)]
    pub watching: Watching,
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Fmt {
    /// programs (.mtp); `-` formats standard input to standard output
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// change nothing; exit with 1 if a file is not in the one layout
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Build {
    #[command(flatten)]
    pub source: Source,
    /// what to build for (see `carrick targets`)
    #[arg(long, default_value = "native")]
    pub target: String,
    /// the folder to write
    #[arg(short, long, required_unless_present = "explain_placement")]
    pub output: Option<PathBuf>,
    /// build nothing, but say where each chain runs on the target, and why
    #[arg(long, conflicts_with = "output")]
    pub explain_placement: bool,
    /// how to say it
    #[arg(long, value_enum, default_value = "pretty", requires = "explain_placement")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Run {
    #[command(flatten)]
    pub source: Source,
    /// trace as JSON lines, as of `carrick sim`: `carrick report` draws it
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// where it runs: as a process, or in the kernel (--port DEVICE --addr A/LEN, and --app APP for one that uses it)
    #[arg(long, value_enum, default_value = "native")]
    pub target: crate::commands::diff::Where,
    /// also what the kernel's verifier says of a program that it rejects
    #[arg(long)]
    pub verbose: bool,
    /// what follows is for the stack: --port tun:NAME|packet:DEV|xdp:DEV|udp:LOCAL:PEER|unix:LOCAL:PEER|loop, --addr A/LEN,
    /// --app echo|http:DIR|get:URL:FILE|memory:IP|perf:IP:KIND:OCTETS:COUNT, --fault ..., --pcap FILE, --set PARAM=VALUE; `--port help` tells all
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub stack: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Explain {
    /// MTP0123, or 123; all are listed without it
    pub code: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Layout {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub watching: Watching,
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
pub struct Targets {
    #[arg(long, value_enum, default_value = "pretty")]
    pub format: Format,
}
