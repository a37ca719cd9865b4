// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which Linux an object needs: what of the kernel it uses, and since when that is there (`targets/xdp/target.toml`).

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use aya_obj::generated::bpf_insn;
use aya_obj::obj::Function;
use serde::Deserialize;

const TARGET: &str = include_str!("../../target.toml");

/// `BPF_MAP_TYPE_*` and `BPF_F_MMAPABLE`.
const QUEUE: u32 = 22;
const STACK: u32 = 23;
const RINGBUF: u32 = 27;
const MAPPED: u32 = 1024;

/// Instructions, by their codes.
const MAY_GOTO: u8 = 0xe5;
const CALL: u8 = 0x85;
const ATOMIC: [u8; 2] = [0xc3, 0xdb];
const JUMPS: [u8; 2] = [0x05, 0x06];
/// Of an atomic instruction: it gives what was there.
const FETCH: i32 = 1;
/// Of a call: to another function of the object.
const OWN: u8 = 1;

/// Since when something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32, u32);

impl Version {
    /// That of a kernel (`uname -r`), or as target files write it; `None`: it says nothing of itself.
    pub fn read(release: &str) -> Option<Version> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
        Some(Version(numbers.next()?, numbers.next().unwrap_or(0)))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

#[derive(Debug, Deserialize)]
struct Target {
    linux: Vec<Feature>,
}

#[derive(Debug, Deserialize)]
struct Feature {
    feature: String,
    since: String,
    what: String,
}

/// Something that an object needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// the first Linux that has it
    pub since: Version,
    /// what for
    what: String,
    /// the first place of the program that does: `file.mtp:17`
    place: Option<String>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.since, self.what)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " ({place})"))
    }
}

/// What is needed in any case: by those who load programs, and attach them.
///
/// # Errors
/// The target file does not say.
pub fn always() -> Result<Need, String> {
    newest([("loading", None)])
}

/// Of all that an object needs what is newest.
///
/// # Errors
/// It is no object, or uses what the target file does not name.
pub fn of(path: &Path) -> Result<Need, String> {
    let octets = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let object = aya_obj::Object::parse(&octets).map_err(|e| format!("{}: {e}", path.display()))?;
    let names = object.btf.as_ref().map(aya_obj::btf::Btf::to_bytes).unwrap_or_default();
    let mut used: BTreeMap<&str, Option<String>> = BTreeMap::from([("loading", None)]);
    for map in object.maps.values() {
        let found = [
            ("rings", map.map_type() == RINGBUF),
            ("stacks", [QUEUE, STACK].contains(&map.map_type())),
            ("mapped", map.map_flags() & MAPPED != 0),
        ];
        used.extend(found.into_iter().filter(|(_, uses)| *uses).map(|(name, _)| (name, None)));
    }
    for function in object.functions.values() {
        for (at, insn) in function.instructions.iter().enumerate() {
            let Some(feature) = uses(insn)? else { continue };
            let place = place(&names, function, at);
            let feature = if feature == "loops" && place.is_none() { "waits" } else { feature };
            let known = used.entry(feature).or_insert_with(|| place.clone());
            *known = known.take().or(place);
        }
    }
    newest(used)
}

/// What an instruction needs that not every kernel has.
fn uses(insn: &bpf_insn) -> Result<Option<&'static str>, String> {
    let code = insn.code;
    Ok(match code {
        MAY_GOTO => Some("loops"),
        CALL if insn.src_reg() == OWN => Some("functions"),
        CALL => return helper(insn.imm),
        code if ATOMIC.contains(&code) => (insn.imm & FETCH != 0).then_some("atomics"),
        code if JUMPS.contains(&(code & 7)) && insn.off < 0 => Some("turns"),
        _ => None,
    })
}

/// The functions of the kernel, by their numbers.
fn helper(number: i32) -> Result<Option<&'static str>, String> {
    Ok(match number {
        // Maps, the time, the processor, tail calls, redirects and checksums are older than all else here.
        1..=3 | 5 | 8 | 12 | 23 | 28 | 44 => None,
        51 => Some("others"),
        65 => Some("longer"),
        87 | 88 => Some("stacks"),
        113 => Some("reading"),
        130 => Some("rings"),
        188..=190 => Some("pieces"),
        197 | 202 => Some("moving"),
        _ => return Err(format!("no table says which Linux version added the kernel's function {number}")),
    })
}

/// The line of the program that an instruction was made of.
fn place(names: &[u8], function: &Function, at: usize) -> Option<String> {
    let lines = &function.line_info.line_info;
    let begin = lines.first()?.insn_off;
    let line = lines.iter().take_while(|line| (line.insn_off - begin) as usize <= at).last()?;
    let file = name(names, line.file_name_off as usize)?;
    let file = file.rsplit('/').next().filter(|file| file.ends_with(".mtp"))?;
    Some(format!("{file}:{}", line.line_col >> 10))
}

/// A string of the types (`struct btf_header`).
fn name(types: &[u8], at: usize) -> Option<&str> {
    let word = |at: usize| Some(u32::from_ne_bytes(types.get(at..at + 4)?.try_into().ok()?) as usize);
    let begin = word(4)? + word(16)? + at;
    let octets = types.get(begin..)?;
    std::str::from_utf8(octets.split(|octet| *octet == 0).next()?).ok()
}

fn newest<'n>(used: impl IntoIterator<Item = (&'n str, Option<String>)>) -> Result<Need, String> {
    let target: Target = toml::from_str(TARGET).map_err(|e| e.to_string())?;
    let mut newest: Option<Need> = None;
    for (name, place) in used {
        let feature = target.linux.iter().find(|feature| feature.feature == name);
        let feature = feature.ok_or_else(|| format!("the target file has no `{name}`"))?;
        let since =
            Version::read(&feature.since).ok_or_else(|| format!("`{}` is no version", feature.since))?;
        if newest.as_ref().is_none_or(|newest| newest.since < since) {
            newest = Some(Need { since, what: feature.what.clone(), place });
        }
    }
    newest.ok_or_else(|| "nothing is needed".into())
}

/// What is wrong with a kernel of this release (`uname -r`). `None`: it has what is needed, or says nothing of itself.
pub fn lacking(need: &Need, release: &str) -> Option<String> {
    Version::read(release).filter(|has| *has < need.since).map(|_| {
        format!(
            "this kernel is Linux {release}, and it takes {need}; boot a newer one, or build for `native`"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(since: &str, place: Option<&str>) -> Need {
        let since = Version::read(since).expect("it is one");
        Need { since, what: "its loops".into(), place: place.map(str::to_owned) }
    }

    #[test]
    fn an_old_kernel_is_told_what_it_lacks_and_where() {
        let loops = need("6.9", Some("stream.mtp:12"));
        for old in ["6.8.12-arch1-1", "5.18.0", "6.1.0-28-amd64", "4.19", "3"] {
            let said = lacking(&loops, old).expect("it is older");
            let expected =
                format!("this kernel is Linux {old}, and it takes 6.9 for its loops (stream.mtp:12); ");
            assert!(said.starts_with(&expected), "{said}");
        }
        for new in ["6.9.0", "6.12.0-28-amd64", "6.18.44-fc-v657", "10.0", "", "unknown"] {
            assert_eq!(lacking(&loops, new), None, "{new}");
        }
        assert_eq!(lacking(&need("5.18", None), "6.1.0-28-amd64"), None);
    }

    #[test]
    fn the_newest_counts_and_what_nobody_has_said_is_told() {
        let always = always().expect("it is said");
        let newest_of = |names: &[&'static str]| newest(names.iter().map(|name| (*name, None)));
        let both = newest_of(&["pieces", "loops", "loading"]).expect("they are said");
        assert_eq!(both.since, Version(6, 9));
        assert!(always.since < newest_of(&["pieces"]).expect("it is said").since);
        assert!(newest_of(&["colour"]).is_err());
        assert!(helper(9999).is_err());
    }

    #[test]
    fn instructions_tell_what_they_need() {
        let insn = |code: u8, off: i16, imm: i32, own: u8| {
            let registers = bpf_insn::new_bitfield_1(0, own);
            uses(&bpf_insn { code, off, imm, _bitfield_1: registers, _bitfield_align_1: [] })
        };
        assert_eq!(insn(MAY_GOTO, 3, 0, 0), Ok(Some("loops")));
        assert_eq!(insn(CALL, 0, 7, OWN), Ok(Some("functions")));
        assert_eq!(insn(CALL, 0, 188, 0), Ok(Some("pieces")));
        assert_eq!(insn(CALL, 0, 1, 0), Ok(None));
        assert_eq!(insn(0xdb, 0, 0xf1, 1), Ok(Some("atomics")));
        assert_eq!(insn(0xdb, 0, 0, 1), Ok(None));
        assert_eq!(insn(0x05, -4, 0, 0), Ok(Some("turns")));
        assert_eq!(insn(0x05, 4, 0, 0), Ok(None));
    }
}
