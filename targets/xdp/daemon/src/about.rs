// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a daemon writes beside its pins for the next one.

use carrick_driver::Failure;
use carrick_xdp_loader::pins;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What was loaded, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// the hash of the generated source
    pub source: String,
    /// the device's name
    pub device: String,
    /// the device's number
    pub index: u32,
    /// the transport's address
    pub address: String,
    /// the values of all parameters
    pub params: Vec<u64>,
}

impl About {
    /// Pins it; all else must be pinned by then.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn write(&self, dir: &Path) -> Result<(), String> {
        pins::write_about(dir, &serde_json::to_string(self).map_err(|e| e.to_string())?)
    }

    /// What is pinned in a folder; `None` where no daemon came to the end of pinning.
    ///
    /// # Errors
    /// What the kernel says, or what is not readable.
    pub fn read(dir: &Path) -> Result<Option<About>, Failure> {
        let text = pins::read_about(dir).map_err(Failure::Failed)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            Failure::Failed(format!(
                "{} was pinned by another version of carrickd; `carrickd clean {name}` takes it away",
                dir.display()
            ))
        })
    }

    /// What this one, which is pinned, has of its own beside what is wanted; `None`: nothing.
    pub fn differs(&self, wanted: &About) -> Option<String> {
        let differs = |what: &str, is: &str, wanted: &str| {
            (is != wanted).then(|| format!("{what} {is}, and {wanted} is wanted"))
        };
        let params = |about: &About| format!("{:?}", about.params);
        let source = "a program that has changed, or that another version of Carrick has built: source";
        differs(source, &self.source, &wanted.source)
            .or_else(|| differs("device", &self.device, &wanted.device))
            .or_else(|| differs("the device's number", &self.index.to_string(), &wanted.index.to_string()))
            .or_else(|| differs("address", &self.address, &wanted.address))
            .or_else(|| differs("parameters", &params(self), &params(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_of_the_first() {
        let one = About {
            source: "a".into(),
            device: "eth0".into(),
            index: 2,
            address: "10.0.0.1".into(),
            params: vec![1],
        };
        assert_eq!(one.differs(&one), None);
        let other = About { source: "b".into(), index: 3, ..one.clone() };
        assert_eq!(
            one.differs(&other).as_deref(),
            Some(
                "a program that has changed, or that another version of Carrick has built: source a, and b is wanted"
            )
        );
        let other = About { params: vec![2], ..one.clone() };
        assert_eq!(one.differs(&other).as_deref(), Some("parameters [1], and [2] is wanted"));
    }
}
