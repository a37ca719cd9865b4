// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a script asks of the stack before it begins: features and parameters of the program.

use carrick_driver::Choice;
use carrick_tests::tcp_segment::{Opt, Segment};

use crate::parse::{Event, Line};

/// How the stack is built and set.
#[derive(Default)]
pub struct Settings {
    pub choice: Choice,
    pub params: Vec<String>,
}

/// Settings of FreeBSD that are as ours are, or of which nothing is seen. Without a value any will do.
const AS_OURS: [(&str, &str); 21] = [
    ("kern.ipc.maxsockbuf", ""),
    ("net.inet.tcp.hostcache.purgenow", ""),
    ("net.inet.tcp.rexmit_slop", ""),
    ("net.inet.tcp.rfc1323", "1"),
    ("net.inet.tcp.sack.enable", "1"),
    ("net.inet.tcp.ecn.enable", "0"),
    ("net.inet.tcp.ecn.enable", "2"),
    ("net.inet.tcp.blackhole", "0"),
    ("net.inet.tcp.insecure_rst", "0"),
    ("net.inet.tcp.insecure_syn", "0"),
    ("net.inet.tcp.syncookies", "1"),
    ("net.inet.tcp.syncookies_only", "0"),
    ("net.inet.tcp.drop_synfin", "0"),
    ("net.inet.tcp.rexmit_drop_options", "0"),
    ("net.inet.tcp.rexmit_initial", "1000"),
    ("net.inet.tcp.fastopen.client_enable", "0"),
    ("net.inet.tcp.fastopen.server_enable", "0"),
    ("net.inet.tcp.udp_tunneling_port", "0"),
    ("net.inet.tcp.keepinit", "75000"),
    ("net.inet.tcp.icmp_may_rst", "1"),
    ("net.inet.tcp.path_mtu_discovery", "1"),
];

/// The same of Linux. What the SYNs of a script offer decides about timestamps; a script of TCP Fast Open has its option, and ECN
/// is the program's where the script's packets have it.
const AS_OURS_LINUX: [(&str, &str); 7] = [
    ("tcp_timestamps", "0"),
    ("tcp_min_tso_segs", ""),
    ("tcp_tso_win_divisor", ""),
    ("tcp_pacing_ss_ratio", ""),
    ("tcp_congestion_control", "cubic"),
    ("tcp_ecn", ""),
    ("tcp_slow_start_after_idle", "1"),
];

fn is_as_ours(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    name.starts_with("tcp_fastopen")
        || AS_OURS_LINUX.iter().any(|(n, v)| *n == name && (v.is_empty() || *v == value))
}

/// Offloads of the device: virtual time has none.
const OFFLOADS: &str = "ethtool -K tun0 ";

impl Settings {
    /// The settings of a script, or its line that asks for what there is not.
    pub fn of(lines: &[Line]) -> Result<Settings, (usize, String)> {
        let (mut settings, mut begun) = (Settings::default(), false);
        let segments =
            || lines.iter().filter_map(|l| if let Event::Out(s) = &l.event { Some(s) } else { None });
        for line in lines {
            match &line.event {
                Event::Shell(command) => {
                    settings.command(command, begun).map_err(|why| (line.number, why))?;
                }
                Event::Call { name, args, .. } => {
                    begun = true;
                    if name == "setsockopt" {
                        settings.send_buffer(args);
                    }
                }
                _ => {}
            }
        }
        if !segments().any(|s| s.flags & 0xc0 != 0) {
            settings.choice.without.push("ecn".to_owned());
        }
        let offered = lines.iter().find_map(|l| match &l.event {
            Event::In(s) if s.is_syn() && !s.has_ack() => Some(s),
            _ => None,
        });
        settings.offers(segments().find(|s| s.is_syn()), offered);
        Ok(settings)
    }

    fn command(&mut self, command: &str, begun: bool) -> Result<(), String> {
        // What the system reports of its sockets is not compared.
        if command.starts_with("sockstat") {
            return Ok(());
        }
        if let Some(setting) = command.strip_prefix("sysctl -w ") {
            return self.setting(setting.trim(), begun);
        }
        let lines = command.lines().map(|line| line.split_once('#').map_or(line, |(line, _)| line).trim());
        lines.filter(|line| !line.is_empty()).try_for_each(Settings::known)
    }

    /// Whether a command of Linux's scripts changes nothing that is seen.
    fn known(command: &str) -> Result<(), String> {
        if command.starts_with(OFFLOADS) {
            return Ok(());
        }
        let setting = |word: &str| {
            let name = word.strip_prefix("/proc/sys/net/ipv4/").or_else(|| word.strip_prefix("net.ipv4."));
            name.or_else(|| word.strip_prefix("net/ipv4/")).map(str::to_owned)
        };
        let known = |word: &str| {
            ["sysctl", "-q", "-e", "\\"].contains(&word)
                || word.ends_with("/defaults.sh")
                || word.ends_with("/set_sysctls.py")
                || word.starts_with("/tmp/sysctl_restore")
                || setting(word).is_some_and(|setting| is_as_ours(&setting))
        };
        match command.split_whitespace().find(|word| !known(word)) {
            Some(word) if setting(word).is_some() => Err(format!("the setting `{word}`")),
            Some(_) => Err(format!("the command `{}`", first_words(command))),
            None => Ok(()),
        }
    }

    fn setting(&mut self, setting: &str, begun: bool) -> Result<(), String> {
        let (name, value) = setting.split_once('=').ok_or_else(|| format!("the setting `{setting}`"))?;
        let param = match name {
            "net.inet.tcp.recvspace" => format!("rcv_buf={value}"),
            "net.inet.tcp.sendspace" => format!("snd_buf={value}"),
            "net.inet.tcp.delacktime" => format!("delack_time={value}ms"),
            "net.inet.tcp.rfc1323" | "net.inet.tcp.sack.enable" if value == "0" => return Ok(()),
            "net.inet.tcp.ecn.enable" if value == "1" => return Ok(()),
            _ if AS_OURS.iter().any(|(n, v)| *n == name && (v.is_empty() || *v == value)) => return Ok(()),
            _ => return Err(format!("the setting `{name}={value}`")),
        };
        if !begun {
            self.params.push(param);
        }
        Ok(())
    }

    /// Connections of ours have one size of buffer from the beginning; Linux and FreeBSD give at least what is wanted.
    fn send_buffer(&mut self, args: &[String]) {
        if let [_, _, name, value, ..] = args
            && name == "SO_SNDBUF"
        {
            self.params.push(format!("snd_buf={}", value.trim_matches(['[', ']'])));
        }
    }

    /// Options that the stack offers, or agrees to, are those of its first SYN.
    fn offers(&mut self, own: Option<&Segment>, offered: Option<&Segment>) {
        let active = own.is_some_and(|s| !s.has_ack());
        let Some(options) = own.and_then(|s| s.options.as_ref()) else { return };
        let has = |options: &[Opt], kind: fn(&Opt) -> bool| options.iter().any(kind);
        let off = |kind: fn(&Opt) -> bool| {
            let asked = active || offered.and_then(|s| s.options.as_ref()).is_some_and(|o| has(o, kind));
            asked && !has(options, kind)
        };
        if off(|o| matches!(o, Opt::SackPermitted)) {
            self.choice.without.push("sack".to_owned());
        }
        if off(|o| matches!(o, Opt::Scale(_))) {
            self.params.push("use_scaling=false".to_owned());
        }
        if off(|o| matches!(o, Opt::Stamps(..))) {
            self.params.push("use_timestamps=false".to_owned());
        }
    }
}

fn first_words(command: &str) -> String {
    command.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
