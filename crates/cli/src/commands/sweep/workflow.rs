// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sweep as a job of engines that run many: files that run as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carrick_driver::Failure;
use serde_json::json;

use super::args::SweepArgs;
use crate::manifest::words;

/// Jobs where nobody says how many.
const PARTS: u64 = 16;

/// What the jobs of an engine have in common.
struct Job {
    /// where the jobs write
    folder: PathBuf,
    /// where the paths of the command line begin
    here: PathBuf,
    /// the command line of this sweep, for a shell
    sweep: String,
    /// the table of all runs
    output: PathBuf,
    parts: u64,
}

impl Job {
    fn of(args: &SweepArgs, folder: &Path) -> Result<Job, Failure> {
        let cannot = |e: std::io::Error| Failure::Failed(format!("cannot write {}: {e}", folder.display()));
        let command = std::env::current_exe().map_err(cannot)?.display().to_string();
        let own = ["--allow-failures".to_owned(), "--quiet".to_owned()];
        let sweep = words::join([command].into_iter().chain(args.words()).chain(own));
        fs::create_dir_all(folder).map_err(cannot)?;
        Ok(Job {
            folder: fs::canonicalize(folder).map_err(cannot)?,
            here: std::env::current_dir().map_err(cannot)?,
            sweep,
            output: std::path::absolute(&args.table.output).map_err(cannot)?,
            parts: args.table.parts.unwrap_or(PARTS),
        })
    }

    /// Writes a file, and says so.
    fn write(&self, name: &str, text: &str, mode: u32) -> Result<(), Failure> {
        let path = self.folder.join(name);
        let written =
            fs::write(&path, text).and_then(|()| fs::set_permissions(&path, PermissionsExt::from_mode(mode)));
        written.map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display())))?;
        println!("{}", path.display());
        Ok(())
    }
}

fn quoted(path: &Path) -> String {
    words::join([path.display().to_string()])
}

/// A workflow of Snakemake: one rule for a part of the runs, one for the table.
///
/// # Errors
/// [`Failure::Failed`] if it cannot be written.
pub fn snakemake(args: &SweepArgs, folder: &Path) -> Result<ExitCode, Failure> {
    let job = Job::of(args, folder)?;
    let text = |text: &str| json!(text).to_string();
    let programs = args.swept.0.iter().filter(|given| given.long.is_none()).flat_map(|given| &given.values);
    let programs: Vec<PathBuf> = programs.map(|file| job.here.join(file)).collect();
    let file = format!(
        "# Written by carrick sweep --write-snakemake. Run it: snakemake --snakefile {shown} --cores all\n\
         PARTS = {parts}\n\
         SWEEP = {sweep}\n\
         PROGRAMS = {programs}\n\
         FOLDER = {folder}\n\
         TABLE = {table}\n\n\
         workdir: {here}\n\n\
         rule all:\n    input: TABLE\n    default_target: True\n\n\
         rule part:\n    input: PROGRAMS\n    output: FOLDER + \"/part-{{part}}.csv\"\n    \
         params: sweep=SWEEP, parts=PARTS\n    \
         shell: \"{{params.sweep}} --shard {{wildcards.part}}/{{params.parts}} -o {{output:q}}\"\n\n\
         rule table:\n    input: expand(FOLDER + \"/part-{{part}}.csv\", part=range(1, PARTS + 1))\n    output: TABLE\n    \
         params: sweep=SWEEP, parts=lambda wildcards, input: [word for part in input for word in (\"--from\", part)]\n    \
         shell: \"{{params.sweep}} {{params.parts:q}} -o {{output:q}}\"\n",
        shown = quoted(&job.folder.join("Snakefile")),
        parts = job.parts,
        sweep = text(&job.sweep),
        programs = json!(programs),
        folder = text(&job.folder.display().to_string()),
        table = text(&job.output.display().to_string()),
        here = text(&job.here.display().to_string()),
    );
    job.write("Snakefile", &file, 0o644)?;
    Ok(ExitCode::SUCCESS)
}

/// An array job of Slurm, and a script that submits it and joins what it made.
///
/// # Errors
/// [`Failure::Failed`] if it cannot be written.
pub fn slurm(args: &SweepArgs, folder: &Path) -> Result<ExitCode, Failure> {
    let job = Job::of(args, folder)?;
    let (parts, sweep, here) = (job.parts, &job.sweep, quoted(&job.here));
    let log = job.folder.join("part-%a.log").display().to_string();
    let part = quoted(&job.folder.join("part-"));
    let array = format!(
        "#!/bin/bash\n\
         # Written by carrick sweep --write-slurm: one task for each part of the runs. A task that is started again makes what its\n\
         # table lacks.\n\
         #SBATCH --job-name=carrick-sweep\n\
         #SBATCH --array=1-{parts}\n\
         #SBATCH --output=\"{log}\"\n\
         set -eu\n\
         cd {here}\n\
         exec {sweep} --resume --shard \"$SLURM_ARRAY_TASK_ID/{parts}\" -o {part}\"$SLURM_ARRAY_TASK_ID.csv\"\n"
    );
    let submit = format!(
        "#!/bin/bash\n\
         # Written by carrick sweep --write-slurm: submits the array, waits for it, and joins its tables.\n\
         set -eu\n\
         cd {here}\n\
         sbatch --wait {}\n\
         tables=()\n\
         for part in {{1..{parts}}}; do tables+=(--from {part}\"$part.csv\"); done\n\
         exec {sweep} \"${{tables[@]}}\" --resume -o {}\n",
        quoted(&job.folder.join("array.sbatch")),
        quoted(&job.output),
    );
    job.write("array.sbatch", &array, 0o755)?;
    job.write("submit.sh", &submit, 0o755)?;
    Ok(ExitCode::SUCCESS)
}
