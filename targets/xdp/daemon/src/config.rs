// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration: which programs are on which devices.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use carrick_driver::{Choice, Failure, Over};
use carrick_ir::NetLayer;
use carrick_xdp_loader::rates::Rates;
use serde::Deserialize;

/// A configuration, as it stands in its file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// the port on the loopback device where Prometheus reads; none without it
    pub metrics: Option<u16>,
    /// the programs
    #[serde(default, rename = "program")]
    pub programs: Vec<Wanted>,
}

/// A program at its device.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// the program (.mtp), as seen from the configuration
    pub file: PathBuf,
    /// what it is called here and under the folder of pins (default: the file without .mtp)
    #[serde(default)]
    pub name: String,
    /// the device, as `ip link` lists it
    pub device: String,
    /// the transport's address, with the length of its network's prefix if that is not 24, or over IPv6 64
    pub address: String,
    /// the version of the Internet Protocol of a program over `inet`
    #[serde(default)]
    over: Version,
    /// features to build with
    #[serde(default)]
    pub with: Vec<String>,
    /// features to leave out
    #[serde(default)]
    pub without: Vec<String>,
    /// parameters: name=value
    #[serde(default)]
    pub set: Vec<String>,
    /// the application in the host process, as behind `carrick run --app`; without it there is no such process
    pub app: Option<String>,
    /// what may leave a second at most, of all packets together
    rate: Option<String>,
    /// and of each connection of whoever has none of its own
    flow_rate: Option<String>,
    /// both, and those of users, once all is read
    #[serde(skip)]
    pub rates: Rates,
    /// who may bind which ports at the door of `sockets:PATH`; without any of it everybody may
    #[serde(default, rename = "allow")]
    allowed: Vec<Allowed>,
}

/// A version of the Internet Protocol, as a configuration names it.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Version {
    #[default]
    Ipv4,
    Ipv6,
}

/// A user, and what that one may have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// the user's number
    uid: u32,
    /// ports: `80`, `8000-8099`
    #[serde(default)]
    ports: Vec<String>,
    /// connections at once, at most; without it as many as are left to others
    connections: Option<u32>,
    /// what all of its connections may send together
    rate: Option<String>,
    /// and each of them
    flow_rate: Option<String>,
}

impl Allowed {
    /// As `sockets:PATH` reads it, with a comma before each; what is wrong with it.
    fn rules(&self) -> Result<String, String> {
        let mut rules = String::new();
        for ports in &self.ports {
            let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
            let range = first.parse::<u16>().ok().zip(last.parse::<u16>().ok());
            let (first, last) =
                range.filter(|(first, last)| *first > 0 && first <= last).ok_or_else(|| {
                    format!("{ports:?} are no ports of user {}; write them like 80 or 8000-8099", self.uid)
                })?;
            rules.push_str(&format!(",{}:{first}-{last}", self.uid));
        }
        match self.connections {
            None => {}
            Some(most @ 1..=65_535) => rules.push_str(&format!(",{}#{most}", self.uid)),
            Some(most) => {
                return Err(format!("user {} cannot have {most} connections; write 1 to 65535", self.uid));
            }
        }
        Ok(rules)
    }
}

impl Wanted {
    /// The features, and the version of the Internet Protocol.
    pub fn choice(&self) -> Choice {
        let over = match self.over {
            Version::Ipv4 => Over::Ipv4,
            Version::Ipv6 => Over::Ipv6,
        };
        let mut choice = Choice { without: self.without.clone(), over, ..Choice::default() };
        self.with.iter().for_each(|text| choice.add(text));
        choice
    }

    /// Tells the doors of sockets who may have what.
    fn restrict(&mut self) -> Result<(), String> {
        let mut rules = self.allowed.iter().map(Allowed::rules).collect::<Result<String, _>>()?;
        let users = self.allowed.iter().map(|user| (user.uid, (&user.rate, &user.flow_rate)));
        let rates = Rates::new((&self.rate, &self.flow_rate), users);
        self.rates = rates.map_err(|why| format!("{}: {why}", self.name))?;
        rules.push_str(&self.rates.rules());
        let door = self.app.as_mut().filter(|app| app.starts_with("sockets:"));
        if !rules.is_empty() && door.is_none() {
            return Err(format!(
                "{} allows users something, and has no door for them: say `app = \"sockets:PATH\"`",
                self.name
            ));
        }
        if let Some(door) = door {
            door.push_str(&rules);
        }
        Ok(())
    }

    /// The address alone, of a program over this layer.
    ///
    /// # Errors
    /// It is none, or no host can have it.
    pub fn ip(&self, layer: NetLayer) -> Result<IpAddr, Failure> {
        carrick_driver::address::of_host(&self.address, layer)
            .map_err(|why| Failure::Usage(format!("the address of {}: {why}", self.name)))
    }
}

/// Reads a configuration; paths in it are then seen from here.
///
/// # Errors
/// [`Failure::Usage`] for what cannot be read, or makes no sense.
pub fn read(path: &Path) -> Result<Config, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|e| {
        Failure::Usage(format!(
            "cannot read {shown}: {e}; `carrickd run FILE` takes the configuration from elsewhere"
        ))
    })?;
    parse(&text, path.parent().unwrap_or(Path::new(".")))
        .map_err(|why| Failure::Usage(format!("{shown}: {why}")))
}

fn parse(text: &str, folder: &Path) -> Result<Config, String> {
    let mut config: Config = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", e.message().replace('\n', "; "))
    })?;
    let mut names = BTreeSet::new();
    for wanted in &mut config.programs {
        wanted.file = folder.join(&wanted.file);
        if wanted.name.is_empty() {
            wanted.name = wanted.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        wanted.restrict()?;
        let name = &wanted.name;
        let right = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(right) {
            return Err(format!("{name:?} names no program; letters, digits, - and _ do"));
        }
        if !names.insert(name.clone()) {
            return Err(format!("two programs are called {name}; give one of them another `name`"));
        }
    }
    if config.programs.is_empty() {
        return Err("there is no program in it; begin one with [[program]]".into());
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[program]]\nfile = \"a/stream.mtp\"\ndevice = \"eth0\"\naddress = \"10.7.0.2/16\"\n";

    fn wrong(text: &str) -> String {
        parse(text, Path::new("/etc")).expect_err("it is wrong")
    }

    #[test]
    fn a_program_is_called_as_its_file_and_lies_beside_the_configuration() {
        let config = parse(ONE, Path::new("/etc/carrick")).expect("it is right");
        let [wanted] = &config.programs[..] else { panic!("it is one") };
        assert_eq!(wanted.name, "stream");
        assert_eq!(wanted.file, Path::new("/etc/carrick/a/stream.mtp"));
        assert_eq!(wanted.ip(NetLayer::Ipv4), Ok(IpAddr::from([10, 7, 0, 2])));
        assert_eq!(config.metrics, None);
    }

    #[test]
    fn a_program_runs_over_ipv6() {
        let text = format!("{}over = \"ipv6\"\n", ONE.replace("10.7.0.2/16", "fd00::2/64"));
        let config = parse(&text, Path::new("/etc")).expect("it is right");
        assert_eq!(config.programs[0].choice().over, Over::Ipv6);
        assert!(config.programs[0].ip(NetLayer::Ipv6).is_ok_and(|address| address.to_string() == "fd00::2"));
        assert!(wrong(&text.replace("ipv6", "ipv5")).contains("unknown variant `ipv5`"));
    }

    #[test]
    fn users_may_have_ports_at_a_door() {
        let allow = "[[program.allow]]\nuid = 33\nports = [\"80\", \"8000-8099\"]\n";
        let text = format!("{ONE}app = \"sockets:/run/a\"\n{allow}");
        let config = parse(&text, Path::new("/etc")).expect("it is right");
        assert_eq!(config.programs[0].app.as_deref(), Some("sockets:/run/a,33:80-80,33:8000-8099"));
        assert!(wrong(&format!("{ONE}{allow}")).contains("has no door for them"));
        let more = format!("{text}connections = 500\n[[program.allow]]\nuid = 34\nconnections = 7\n");
        let config = parse(&more, Path::new("/etc")).expect("it is right");
        let door = config.programs[0].app.as_deref();
        assert_eq!(door, Some("sockets:/run/a,33:80-80,33:8000-8099,33#500,34#7"));
        assert!(wrong(&format!("{text}connections = 0\n")).contains("user 33 cannot have 0 connections"));
        for ports in ["0", "90-80", "65536", "http", ""] {
            assert!(wrong(&text.replace("8000-8099", ports)).contains("are no ports of user 33"), "{ports}");
        }
    }

    #[test]
    fn users_have_rates() {
        let head = format!("{ONE}app = \"sockets:/run/a\"\nrate = \"1Gbps\"\nflow_rate = \"50Mbps\"\n");
        let allow = "[[program.allow]]\nuid = 33\nports = [\"80\"]\nrate = \"100Mbps\"\n";
        let config = parse(&format!("{head}{allow}"), Path::new("/etc")).expect("it is right");
        let wanted = &config.programs[0];
        assert_eq!(wanted.app.as_deref(), Some("sockets:/run/a,33:80-80,33=1"));
        assert_eq!(
            (wanted.rates.limits.rate, wanted.rates.users.as_slice()),
            (Some(1_000_000_000), &[33][..])
        );
        let owners: Vec<_> = wanted.rates.limits.owners.iter().map(|o| (o.rate, o.flow_rate)).collect();
        assert_eq!(owners, [(None, Some(50_000_000)), (Some(100_000_000), Some(50_000_000))]);
        assert!(wrong(&format!("{head}{allow}{allow}")).contains("user 33 has two rates"));
        let said = wrong(&format!("{head}{allow}").replace("100Mbps", "fast"));
        assert!(said.contains("\"fast\" is not a rate; write it like 100Mbps"), "{said}");
        assert!(wrong(&format!("{head}{allow}").replace("100Mbps", "0Mbps")).contains("cannot be held"));
    }

    #[test]
    fn what_makes_no_sense_is_one_sentence_with_its_line() {
        assert!(wrong("").contains("no program in it"));
        assert!(wrong(&format!("{ONE}colour = 1\n")).starts_with("line 5: unknown field `colour`"));
        assert!(wrong("[[program]]\nfile = \"a.mtp\"\n").contains("missing field `device`"));
        assert!(wrong(&format!("{ONE}{ONE}")).contains("two programs are called stream"));
        assert!(wrong(&format!("{ONE}name = \"../a\"\n")).contains("names no program"));
        for address in
            ["10.7.0", "10.7.0.2/33", "fe80::1", "", "0.0.0.0/0", "10.7.0.2/0", "224.0.0.1", "127.0.0.1/8"]
        {
            let text = ONE.replace("10.7.0.2/16", address);
            let config = parse(&text, Path::new("/etc")).expect("it can be read");
            assert!(config.programs[0].ip(NetLayer::Ipv4).is_err(), "{address}");
        }
        assert!(wrong(&ONE.replace("eth0\"", "eth0")).lines().count() == 1);
    }
}
