// SPDX-License-Identifier: MIT OR Apache-2.0
//! The circuit of a program: pipelines of its chains, and the shell around them.

use std::fmt::Write;
use std::path::Path;

use carrick_driver::targets::{Overflow, PipelineSpec};
use carrick_driver::{Failure, build};
use carrick_ir::{ParamId, Program, Ty, fold};
use include_dir::{Dir, include_dir};

use super::calendar;
use super::dslx::{Design, Input, Packets, Shapes, TIMER_BITS, WOKEN_BITS, event_bits, fires};
use super::header::header;
use super::pipelines;
use super::registers;
use super::snapshots;

static RTL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/hw/rtl");
/// Where packets go in and out.
static WIRE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/hw/wire");

/// Bits in front of an event: the number of its chain, whether it names a flow, whether there is space for another instance.
const CHAIN_BITS: u32 = 8;
/// Tables of the session table: an id has a row in each.
const TABLES: u64 = 4;
/// A row in each has at least so many bits in its number.
const ROW_BITS: u32 = 6;
/// Cycles of an event under way beside its chain's stages.
const AROUND: u64 = 6;

/// How wide the ports of a circuit are.
pub struct Ports {
    pub id: u32,
    pub context: u32,
    /// the timers of a flow, which are behind its context
    pub timers: u32,
    pub event: u32,
    pub env: u32,
    pub issued: u32,
}

impl Ports {
    pub fn of(program: &Program, design: &Design) -> Ports {
        let shapes = Shapes::new(program);
        let context = shapes.width(&Ty::Context(design.context));
        let events = design.chains.iter().map(|(event, _)| event_bits(program, &shapes, *event));
        let env = design.inputs.iter().map(|input| input.bits(program, &shapes)).sum::<u32>();
        let made = if design.makes { 1 + context } else { 0 };
        let drawn = if design.draws() { 8 } else { 0 };
        let timers = design.timers * TIMER_BITS;
        Ports {
            id: shapes.width(&Ty::Id(program.contexts[design.context.index()].id)),
            context,
            timers,
            event: events.max().unwrap_or(0).max(1),
            env: env.max(1),
            issued: 2 + made + drawn + design.scheduled() + design.instructions(),
        }
    }

    /// Bits of an event.
    pub fn input(&self) -> u32 {
        CHAIN_BITS + 2 + self.id + self.event + self.env
    }

    /// Bits of what the session table has of a flow.
    pub fn row(&self) -> u32 {
        self.context + self.timers
    }

    /// Bits of what becomes of it.
    pub fn output(&self) -> u32 {
        2 + self.row() + self.issued
    }
}

impl Design {
    /// Whether chains draw random numbers.
    pub fn draws(&self) -> bool {
        self.inputs.iter().any(|input| matches!(input, Input::Random(_)))
    }

    /// Bits in which a chain says whether it ran, and what the calendar has to do.
    pub fn scheduled(&self) -> u32 {
        if self.timers == 0 { 0 } else { 1 + self.timers * (2 + calendar::TIME_BITS) }
    }
}

/// Writes a program's circuit to a folder; the names of the files.
///
/// # Errors
/// Those of [`pipelines::write`].
pub fn write(
    program: &Program,
    design: &Design,
    settings: &PipelineSpec,
    dir: &Path,
) -> Result<Vec<String>, Failure> {
    let mut files = vec![format!("{}.x", program.name)];
    files.extend(pipelines::write(program, design, settings, dir)?);
    files.extend(write_around(program, design, settings, dir)?);
    Ok(files)
}

/// Writes all of a circuit but its pipelines, which take the most time; the names of the files beside the chains in DSLX.
///
/// # Errors
/// [`Failure::Usage`] if the folder cannot be written.
pub fn write_around(
    program: &Program,
    design: &Design,
    settings: &PipelineSpec,
    dir: &Path,
) -> Result<Vec<String>, Failure> {
    build::write(&dir.join(format!("{}.x", program.name)), design.text.as_bytes())?;
    let ports = Ports::of(program, design);
    build::write(&dir.join("top.sv"), top(program, design, settings, &ports).as_bytes())?;
    build::write(&dir.join("ports.h"), header(program, design, &ports).as_bytes())?;
    build::write(&dir.join("registers.md"), registers::page(program, design, &ports).as_bytes())?;
    build::write_tree(&RTL, dir)?;
    let mut files: Vec<String> = ["top.sv", "ports.h", "registers.md"].map(Into::into).to_vec();
    if design.packets.is_ok() {
        build::write_tree(&WIRE, dir)?;
        build::write_core(program, &dir.join("compiled"))?;
        files.push("compiled".into());
        files.extend(WIRE.files().map(|file| file.path().display().to_string()));
    }
    files.extend(RTL.files().map(|file| file.path().display().to_string()));
    Ok(files)
}

/// Bits of a number below this one.
pub fn bits(n: u64) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

/// Bits of the number of a row in a table of the session table.
fn row_bits(program: &Program, design: &Design, settings: &PipelineSpec) -> u32 {
    let default = |id: ParamId| program.params.get(id.index()).map(|param| param.default);
    let capacity = fold::fold(program, &program.contexts[design.context.index()].capacity, &default);
    let flows = capacity.unwrap_or(settings.flows).min(settings.flows);
    bits(flows.div_ceil(TABLES)).max(ROW_BITS)
}

/// Bits of the number of an event under way.
pub fn flight_bits(settings: &PipelineSpec) -> u32 {
    bits(settings.stages + AROUND)
}

/// The parameters of the shell, by name.
fn parameters(program: &Program, design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    let Ports { id, timers, event, env, issued, .. } = ports;
    let (makes, drops) = (u32::from(design.makes), u32::from(settings.overflow == Overflow::Drop));
    let alone: String = design.alone.iter().rev().map(|alone| if *alone { '1' } else { '0' }).collect();
    let all = [
        ("ID", id.to_string()),
        ("CTX", ports.row().to_string()),
        ("FRESH", timers.to_string()),
        ("EVENT", event.to_string()),
        ("ENV", env.to_string()),
        ("ISSUED", issued.to_string()),
        ("MAKES", format!("1'b{makes}")),
        ("ALONE", format!("256'b{alone}")),
        ("ROW_BITS", row_bits(program, design, settings).to_string()),
        ("QUEUE_BITS", bits(settings.queue).to_string()),
        ("FLIGHT_BITS", flight_bits(settings).to_string()),
        ("DROPS", format!("1'b{drops}")),
        ("CLEARS", "CLEARS".into()),
    ];
    all.map(|(name, value)| format!("        .{name}({value})")).join(",\n")
}

/// The pins for packets, beside those for events.
const PACKET_PINS: &str = "    input  logic carries,\n    input  logic space,\n    input  logic [15:0] mtu,\n    \
    input  logic s_valid,\n    output logic s_ready,\n    input  logic [63:0] s_data,\n    input  logic [7:0] s_keep,\n    \
    input  logic s_last,\n    input  logic [7:0] s_user,\n    output logic m_valid,\n    input  logic m_ready,\n    \
    output logic [63:0] m_data,\n    output logic [7:0] m_keep,\n    output logic m_last,\n    output logic [9:0] m_user,\n    \
    output logic looked_valid,\n    output logic [1:0] looked_verdict,\n    output logic [7:0] looked_why,\n    \
    output logic looked_long,\n    output logic packet_done,\n    output logic [2:0] unsent,\n";

/// The modules that read and make packets, and what connects them.
fn packets(program: &Program, design: &Design, settings: &PipelineSpec, ports: &Ports) -> Option<String> {
    let Packets { window, longest } = *design.packets.as_ref().ok()?;
    let Ports { id, event, env, .. } = ports;
    let Design { args, slots, wide, wides, .. } = design;
    let (name, output) = (&program.name, ports.output());
    Some(format!(
        "    logic parse_valid, parsed_valid, build_valid, built_valid;\n    logic [{}:0] parse_data;\n    \
         logic [{}:0] parsed_data;\n    logic [{}:0] build_data;\n    logic [{}:0] built_data;\n\n    \
         packets #(\n        .ID({id}),\n        .EVENT({event}),\n        .ENV({env}),\n        .ARGS({args}),\n        \
         .SLOTS({slots}),\n        .WIDE({wide}),\n        .WIDES({wides}),\n        .OUTPUT({output}),\n        .WINDOW({window}),\n        .LONGEST({longest})\n    ) packets (\n        \
         .in_valid(host_valid),\n        .in_ready(host_ready),\n        \
         .in_data(host_data),\n        .result_data(out_data),\n        .*\n    );\n    \
         {}    {name}_packet_in parser (\n        .clk(clk_parser),\n        \
         .p(parse_data),\n        .env(around),\n        .out(parsed_data)\n    );\n\
         {}    {name}_packet_out builder (\n        .clk(clk_builder),\n        \
         .l(build_data),\n        .out(built_data)\n    );\n",
        8 * window + 40 - 1,
        83 + id + event + env - 1,
        8 + args + wide + 48 - 1,
        28 + 8 * longest - 1,
        stages("parser", settings.stages, ["parse_valid", "parsed_valid"]),
        stages("builder", settings.stages, ["build_valid", "built_valid"]),
    ))
}

/// The stages of a pipeline that events enter and leave when these are so.
fn stages(pipeline: &str, stages: u64, [enter, leave]: [&str; 2]) -> String {
    format!(
        "    logic clk_{pipeline};\n    pipeline_stages #(\n        .STAGES({stages})\n    ) stages_of_{pipeline} (\n        \
         .clk(clk),\n        .rst(rst),\n        .enter({enter}),\n        .leave({leave}),\n        .gated(clk_{pipeline})\n    );\n"
    )
}

/// The module that connects the shell and the pipelines.
fn top(program: &Program, design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    let Ports { id, event, env, issued, .. } = ports;
    let (input, output, row) = (ports.input() - 1, ports.output() - 1, ports.row());
    let packets = packets(program, design, settings, ports);
    let pins = match packets {
        Some(_) => format!("{PACKET_PINS}    input  logic [{}:0] around,\n", env - 1),
        None => String::new(),
    };
    let mut text = format!(
        "// The circuit of {}: the shell, and the pipelines of its chains. Made by carrick.\n\
         module top #(\n    parameter int ID = {id},\n    // a tick of the calendar, as a power of two in nanoseconds\n    \
         parameter int TICK_BITS = {},\n    // whether a reset empties the memories of tables\n    \
         parameter bit CLEARS = 1'b1\n) (\n    input  logic clk,\n    input  logic rst,\n{pins}{}{}{}    input  logic in_valid,\n    \
         output logic in_ready,\n    input  logic [{input}:0] in_data,\n    output logic out_valid,\n    \
         input  logic out_ready,\n    output logic [{output}:0] out_data,\n    \
         output logic [31:0] events_dropped,\n    output logic [31:0] instances_dropped\n);\n    \
         logic event_valid, event_ready, shell_valid, settled, result_valid, result_ready, out_new;\n    \
         logic [{input}:0] event_data;\n    \
         logic [7:0] in_chain, run_chain;\n    logic in_named, in_space, run_valid, run_found, end_valid;\n    \
         logic [{}:0] in_id;\n    logic [{}:0] in_event, run_event;\n    logic [{}:0] in_env, run_env;\n    \
         logic [{}:0] run_context;\n    logic [{}:0] end_data;\n{}    \
         assign {{in_chain, in_named, in_space, in_id, in_event, in_env}} = event_data;\n    \
         assign result_valid = shell_valid && settled;\n\n    \
         shell #(\n{}\n    ) shell (\n        .in_valid(event_valid),\n        .in_ready(event_ready),\n        \
         .out_valid(shell_valid),\n        .out_ready(result_ready && settled),\n        \
         .out_found(out_data[{output}]),\n        .out_full(out_data[{}]),\n        .out_data(out_data[{}:0]),\n        \
         .*\n    );\n{}",
        program.name,
        bits(settings.tick),
        registers::PINS,
        calendar::PINS,
        snapshots::PINS,
        id - 1,
        event - 1,
        env - 1,
        row - 1,
        row + issued - 1,
        calendar::connected(program, design, settings, ports),
        parameters(program, design, settings, ports),
        output - 1,
        output - 2,
        packets.unwrap_or_default(),
    );
    text.push_str(&snapshots::connected(design, settings, ports));
    text.push_str(&registers::connected(design, ports, row_bits(program, design, settings)));
    text.push_str(&chains(program, design, settings, ports));
    text
}

/// The pipelines of the chains.
fn chains(program: &Program, design: &Design, settings: &PipelineSpec, ports: &Ports) -> String {
    let shapes = Shapes::new(program);
    let (row, timers, issued) = (ports.row(), ports.timers, ports.issued);
    let (mut text, mut data) = (String::new(), String::new());
    let mut valid = Vec::new();
    for (n, (of, chain)) in design.chains.iter().enumerate() {
        let given = match fires(program, *of) {
            true => format!(".woken(run_event[{}:0])", WOKEN_BITS - 1),
            false => format!(".e(run_event[{}:0])", shapes.width(&Ty::Event(*of)).max(1) - 1),
        };
        let kept = match timers {
            0 => String::new(),
            n => format!(".timers(run_context[{}:0]),\n        ", n - 1),
        };
        let _ = write!(
            text,
            "\n    logic run_{n}, end_{n};\n    logic [{}:0] data_{n};\n    assign run_{n} = run_valid && run_chain == 8'd{n};\n{}    \
             {}_{chain} chain_{n} (\n        .clk(clk_{n}),\n        .found(run_found),\n        \
             {given},\n        .c(run_context[{}:{timers}]),\n        {kept}.env(run_env),\n        \
             .out(data_{n})\n    );\n",
            row + issued - 1,
            stages(&n.to_string(), settings.stages, [&format!("run_{n}"), &format!("end_{n}")]),
            program.name,
            row - 1,
        );
        data = if n == 0 { "data_0".into() } else { format!("end_{n} ? data_{n} : {data}") };
        valid.push(format!("end_{n}"));
    }
    let _ = write!(
        text,
        "\n    assign end_valid = {};\n    assign end_data  = {data};\nendmodule\n",
        valid.join(" || ")
    );
    text
}
