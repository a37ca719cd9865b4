// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be said on the command line.

mod commands;
mod diff;
mod plot;
mod sim;
mod source;
mod trace;
mod verify;

use clap::{Parser, Subcommand};

pub use crate::commands::sweep::SweepArgs;
pub use commands::*;
pub use diff::DiffArgs;
pub use plot::Plot;
pub use sim::SimArgs;
pub use source::{Features, Source, TARGET, Watching};
pub use trace::TraceArgs;
pub use verify::{Expected, VerifyArgs};

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
    /// Show no progress on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
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
        before_help = "Example: carrick sim stream.mtp --loss 1% --delay 10ms --rate 100Mbps --bytes 10MB --seed 7 --pcap out.pcapng\n         carrick sim stream.mtp --topology dumbbell:2 --workload all-to-all@h0..h1:h2..h3 --host-program h1=mine.mtp --host-program h3=mine.mtp"
    )]
    Sim(Box<SimArgs>),
    /// Run many simulations, over lists of values, and write one table
    #[command(
        before_help = "Example: carrick sweep stream.mtp --loss 0%,1%,2% --delay 1ms..50ms:log5 --seeds 10 --jobs 2 -o runs.csv",
        after_help = "An option of a simulation takes one value, a list (0%,1%,2%) or a range with its number of values (1ms..50ms:log5, 0%..4%:lin5).\nWhere values have commas themselves, a semicolon separates them: --with 'sack,cubic;newreno'."
    )]
    Sweep(Box<SweepArgs>),
    /// Inspect and change the contexts of a running program, or inspect those of a recorded run
    #[command(
        before_help = "Example: carrick trace stream.mtp --sample cwnd,snd_una --every 10ms --loss 1% --bytes 10MB\n         carrick trace stream.run --when 'cwnd > 1MB' --show cwnd,snd_una"
    )]
    Trace(Box<TraceArgs>),
    /// Run a program on a network device of this machine
    #[command(
        before_help = "Example: carrick run stream.mtp --port tun:carrick0 --addr 10.7.0.2/24 --app http:www"
    )]
    Run(Run),
    /// Compare the interpreter with the compiled core, or two versions of a program, over random networks and applications
    #[command(
        before_help = "Example: carrick diff stream.mtp --seeds 200\n         carrick diff old.mtp new.mtp --seeds 20"
    )]
    Diff(DiffArgs),
    /// Prove claims of a program, and find divisions by zero, full lists and cut fields
    #[command(
        before_help = "Example: carrick verify stream.mtp --seconds 10\n         carrick verify stream.mtp --paths",
        after_help = "Exit code 0: all checks are proved within the bounds. 4: some are not inductive or undecided. With --against 0: the same; 1: something differs; 4: something is undecided."
    )]
    Verify(Box<VerifyArgs>),
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
    /// Draw tables of results: slowdowns, completion times, queues, goodput, fields of contexts
    #[command(
        before_help = "Example: carrick plot one.csv other.csv --what slowdown -o slowdown.svg\n         carrick plot cwnd.csv --host h0 --x 1s..3s --size 1000x600 -o cwnd.png"
    )]
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
