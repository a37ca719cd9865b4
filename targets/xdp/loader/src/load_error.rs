// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a program is not in the kernel, in a sentence.

use std::fmt;
use std::io;

use aya::EbpfError;
use aya::programs::ProgramError;
use carrick_driver::Failure;

pub(crate) fn failed(what: &str) -> impl Fn(io::Error) -> String + '_ {
    move |e| format!("cannot {what}: {e}")
}

/// Why an object is not in the kernel.
#[derive(Debug)]
pub enum LoadError {
    /// this process may not, or this kernel cannot: what is missing
    Missing(String),
    /// the verifier rejects it: the place of the program that it stopped at, if it says one, why, and all that it says
    Rejected {
        /// `file.mtp:17`
        place: Option<String>,
        /// its last sentence
        why: String,
        /// the log
        log: String,
    },
    /// anything else
    Failed(String),
}

impl LoadError {
    /// Why a command ends; `verbose`: with all that the verifier says.
    pub fn failure(self, verbose: bool) -> Failure {
        let text = self.to_string();
        match self {
            LoadError::Missing(_) => Failure::Missing(text),
            LoadError::Failed(_) => Failure::Failed(text),
            LoadError::Rejected { log, .. } if verbose => Failure::Failed(format!("{text}\n{log}")),
            LoadError::Rejected { .. } => {
                Failure::Failed(format!("{text}; --verbose shows all that it says"))
            }
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Missing(what) | LoadError::Failed(what) => f.write_str(what),
            LoadError::Rejected { place, why, .. } => {
                let place = place.as_deref().unwrap_or("what belongs to no line of the program");
                let (what, advice) = match is_too_long(why) {
                    true => (
                        "where the kernel's verifier gives up, since it follows no program for longer",
                        "make loops inside each other, lists or arrays shorter, or raise an event whose chain does a part of this",
                    ),
                    false => (
                        "the kernel's verifier rejects what was made of this",
                        "this is a bug in the compiler: split the statement, or leave it out, until it is fixed",
                    ),
                };
                write!(f, "{place}: {what} ({why}); {advice}")
            }
        }
    }
}

/// An error with those that it comes from.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut from = error.source();
    while let Some(source) = from {
        text.push_str(&format!(": {source}"));
        from = source.source();
    }
    text
}

/// Whether the verifier's last sentence is of how much it follows (`check_cond_jmp_op` and `do_check` of Linux's
/// `kernel/bpf/verifier.c`), which no program is wrong for.
fn is_too_long(why: &str) -> bool {
    why.starts_with("The sequence of ") && why.ends_with(" jumps is too complex.")
        || why.starts_with("BPF program is too large. Processed ")
}

/// What to do where the kernel says that this process may not.
pub(crate) const PRIVILEGE: &str = "programs cannot be brought into the kernel (operation not permitted); run as root, or with CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW";

/// Whether an error comes from a lack of privilege.
fn is_forbidden(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut from = Some(error);
    while let Some(source) = from {
        if source.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::PermissionDenied) {
            return true;
        }
        from = source.source();
    }
    false
}

pub(crate) fn refused_maps(error: EbpfError) -> LoadError {
    if is_forbidden(&error) {
        return LoadError::Missing(PRIVILEGE.into());
    }
    LoadError::Failed(format!("cannot load the programs: {}", told(&error)))
}

pub(crate) fn refused_program(error: ProgramError) -> LoadError {
    match error {
        ProgramError::LoadError { verifier_log, .. } if verifier_log.to_string().contains("processed ") => {
            rejected(&verifier_log.to_string())
        }
        other if is_forbidden(&other) => LoadError::Missing(PRIVILEGE.into()),
        other => LoadError::Failed(format!("cannot load the programs: {}", told(&other))),
    }
}

/// How often a program is given to the verifier: it gives up when a signal arrives for this process, even one that only stops
/// the process for a while.
const ATTEMPTS: u32 = 5;

/// Repeats a load that a signal has ended.
pub(crate) fn verified(mut load: impl FnMut() -> Result<(), ProgramError>) -> Result<(), ProgramError> {
    for _ in 1..ATTEMPTS {
        match load() {
            Err(ProgramError::LoadError { io_error, .. }) if io_error.kind() == io::ErrorKind::WouldBlock => {
            }
            done => return done,
        }
    }
    load()
}

/// The verifier ends with why, and then with what it has cost. It shows the line of each instruction as `; text @ file:line`.
fn rejected(log: &str) -> LoadError {
    let lines: Vec<&str> = log.lines().collect();
    let end = lines.iter().rposition(|line| line.starts_with("processed ")).unwrap_or(lines.len());
    let why =
        lines[..end].iter().rev().find(|line| !line.is_empty()).copied().unwrap_or("it does not say why");
    let places = lines[..end].iter().rev().filter_map(|line| line.strip_prefix("; ")?.rsplit_once(" @ "));
    let place = places.map(|(_, place)| place.trim()).next();
    let place = place.filter(|place| place.contains(".mtp:")).map(str::to_owned);
    LoadError::Rejected { place, why: why.to_owned(), log: log.to_owned() }
}

#[cfg(test)]
mod tests {
    use aya_obj::VerifierLog;

    use super::*;

    const LOG: &str = "0: R1=ctx() R10=fp0
; c.count += e.n; @ least.mtp:16
7: (61) r1 = *(u32 *)(r1 +0)
R1 invalid mem access 'scalar'
processed 8 insns (limit 1000000) max_states_per_insn 0
";

    /// What the kernel says, with the verifier's log.
    fn ended(kind: io::ErrorKind) -> ProgramError {
        ProgramError::LoadError { io_error: kind.into(), verifier_log: VerifierLog::new(LOG.into()) }
    }

    #[test]
    fn a_signal_during_verification_is_no_rejection() {
        for (kind, expected) in [(io::ErrorKind::WouldBlock, ATTEMPTS), (io::ErrorKind::InvalidInput, 1)] {
            let mut attempts = 0;
            let load = || {
                attempts += 1;
                Err(ended(kind))
            };
            assert!(verified(load).is_err());
            assert_eq!(attempts, expected, "{kind}");
        }
    }

    #[test]
    fn a_rejection_names_the_line_of_the_program() {
        let refusal = rejected(LOG);
        let text = refusal.to_string();
        assert!(text.starts_with("least.mtp:16: "), "{text}");
        assert!(text.contains("(R1 invalid mem access 'scalar')"), "{text}");
        assert!(!text.contains("processed"), "{text}");
        let LoadError::Rejected { log, .. } = refusal else { panic!("it is one") };
        assert_eq!(log, LOG);
    }

    #[test]
    fn a_program_that_is_too_long_is_no_fault_of_the_compiler() {
        for why in
            ["The sequence of 8193 jumps is too complex.", "BPF program is too large. Processed 1000001 insn"]
        {
            let text = rejected(&LOG.replace("R1 invalid mem access 'scalar'", why)).to_string();
            assert!(text.starts_with("least.mtp:16: where the kernel's verifier gives up"), "{text}");
            assert!(text.contains(why) && text.contains("raise an event"), "{text}");
            assert!(!text.contains("bug"), "{text}");
        }
    }

    #[test]
    fn what_belongs_to_no_line_of_the_program_names_none() {
        let LoadError::Rejected { place, .. } = rejected(&LOG.replace("least.mtp:16", "least.bpf.c:9"))
        else {
            panic!("it is one")
        };
        assert_eq!(place, None);
    }
}
