// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same scripts on this machine's kernel: packetdrill plays each in a network namespace of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::parse::chosen;

/// Scripts at a time. They wait for most of their time.
const AT_ONCE: usize = 4;
/// How often a script is tried whose times do not hold: the machine may be busy.
const TRIES: usize = 3;
/// Seconds that a script may take.
const LONGEST: &str = "60";
/// Addresses as the runner of Linux's selftests sets them.
const IPV4: [&str; 5] = [
    "--ip_version=ipv4",
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
];
const IPV6: [&str; 4] = [
    "--ip_version=ipv6",
    "--local_ip=fd3d:0a0b:17d6::1",
    "--gateway_ip=fd3d:0a0b:17d6:8888::1",
    "--remote_ip=fd3d:fa7b:d17d::1",
];
/// Constants that some of its scripts use, for each version.
const CONSTANTS: [[&str; 4]; 2] = [
    ["-D", "CMSG_LEVEL_IP=SOL_IP", "-D", "CMSG_TYPE_RECVERR=IP_RECVERR"],
    ["-D", "CMSG_LEVEL_IP=SOL_IPV6", "-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR"],
];
/// Commands of FreeBSD's scripts, which set what Linux does not have or ask FreeBSD about its sockets.
const FREEBSD: [&str; 5] = ["sysctl -w net.inet.", "sysctl -w kern.", "sockstat", "tcpdrop", "setkey"];

/// How a script went: why it did not pass.
pub type Outcome = Result<(), String>;

/// Packetdrill, on this kernel.
pub struct Linux {
    packetdrill: PathBuf,
    /// what makes a namespace
    unshare: &'static str,
}

impl Linux {
    /// Packetdrill by its path, if this machine lets it have a namespace with a TUN device; else why not.
    pub fn with(packetdrill: &OsString) -> Result<Linux, String> {
        for unshare in ["-n", "-rn"] {
            let tried = Command::new("unshare")
                .args([unshare, "ip", "tuntap", "add", "probe0", "mode", "tun"])
                .output();
            if tried.is_ok_and(|done| done.status.success()) {
                return Ok(Linux { packetdrill: packetdrill.into(), unshare });
            }
        }
        Err("no network namespace with a TUN device can be made here".to_owned())
    }

    /// Plays all of them, some at a time.
    pub fn play(&self, scripts: &[PathBuf]) -> Vec<Outcome> {
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(vec![Ok(()); scripts.len()]));
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some((at, path)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        scripts.get(at).map(|path| (at, path))
                    } {
                        let outcome = self.tried(path);
                        outcomes.lock().expect("no panic")[at] = outcome;
                    }
                });
            }
        });
        outcomes.into_inner().expect("no panic")
    }

    fn tried(&self, path: &Path) -> Outcome {
        let mut outcome = self.once(path);
        for _ in 1..TRIES {
            if !outcome.as_ref().is_err_and(|why| why.contains("timing error")) {
                break;
            }
            outcome = self.once(path);
        }
        outcome
    }

    /// Plays a script once, in its folder, since commands of scripts have paths from there.
    fn once(&self, path: &Path) -> Outcome {
        let text = String::from_utf8_lossy(&std::fs::read(path).map_err(|e| e.to_string())?).into_owned();
        let (addresses, constants) = match text.contains("--ip_version=ipv6") {
            true => (&IPV6[..], CONSTANTS[1]),
            false => (&IPV4[..], CONSTANTS[0]),
        };
        let copy = tempfile::Builder::new().suffix(".pkt").tempfile().map_err(|e| e.to_string())?;
        std::fs::write(copy.path(), for_linux(&text)).map_err(|e| e.to_string())?;
        let played = Command::new("timeout")
            .args([LONGEST, "unshare", self.unshare])
            .arg(&self.packetdrill)
            .args(addresses)
            .args(constants)
            .arg(copy.path())
            .current_dir(path.parent().unwrap_or(Path::new(".")))
            .output()
            .map_err(|e| format!("{}: {e}", self.packetdrill.display()))?;
        let said = String::from_utf8_lossy(&played.stderr).replace(&copy.path().display().to_string(), "");
        match played.status.success() {
            true => Ok(()),
            false => {
                Err(said.lines().find(|line| !line.is_empty()).unwrap_or("it takes too long").to_owned())
            }
        }
    }
}

/// Whether namespaces may have the congestion control that scripts of Linux expect.
pub fn allows_cubic() -> bool {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
        .is_ok_and(|names| names.split_whitespace().any(|name| name == "cubic"))
}

/// A script as Linux can play it. Of FreeBSD's the commands are left out, what FreeBSD tells of its buffers, the size of its
/// windows, and the options of its SYNs: our player compares none of them but the options. Lines keep their numbers.
fn for_linux(text: &str) -> String {
    let of_freebsd = |line: &str| {
        line.split_once('`')
            .is_some_and(|(_, command)| FREEBSD.iter().any(|start| command.starts_with(start)))
    };
    if !text.lines().any(of_freebsd) {
        return text.to_owned();
    }
    let line = |line: &str| match line {
        _ if of_freebsd(line) || line.contains("SO_RCVBUF") => "\n".to_owned(),
        _ if line.split_whitespace().nth(1) == Some(">") => format!("{}\n", without_sizes(line)),
        _ => format!("{line}\n"),
    };
    chosen(text).lines().map(line).collect()
}

/// A line with a packet without the size of its window, and with any options if it is a SYN.
fn without_sizes(line: &str) -> String {
    let (head, options) = line.split_once('<').map_or((line, None), |(head, options)| (head, Some(options)));
    let mut words: Vec<&str> = head.split_whitespace().collect();
    if let Some(at) =
        words.iter().position(|word| *word == "win").filter(|at| words.get(at + 1) != Some(&"0"))
    {
        words.drain(at..words.len().min(at + 2));
    }
    let syn = words.get(2).is_some_and(|flags| flags.contains('S'));
    match options {
        Some(_) if syn => words.push("<...>"),
        Some(options) => return format!("{} <{options}", words.join(" ")),
        None => {}
    }
    words.join(" ")
}
