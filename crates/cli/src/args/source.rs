// SPDX-License-Identifier: MIT OR Apache-2.0
//! What many commands take: a program, and what it is built with.

use std::fmt;
use std::path::PathBuf;

use carrick_driver::{Choice, Over};
use carrick_sim::trace::Form;
use clap::{Args as ClapArgs, ValueEnum};

/// The target of commands that name none.
pub const TARGET: &str = "native";

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

impl Version {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Version::Ipv4 => "ipv4",
            Version::Ipv6 => "ipv6",
        }
    }
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

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceForm {
    /// Fast and compact
    Binary,
    /// JSON lines
    Json,
}

impl From<TraceForm> for Form {
    fn from(form: TraceForm) -> Form {
        match form {
            TraceForm::Binary => Form::Binary,
            TraceForm::Json => Form::Json,
        }
    }
}

/// Whether a command goes on after its work is done.
#[derive(Debug, Clone, ClapArgs)]
pub struct Watching {
    /// Repeat whenever a file of the program changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}
