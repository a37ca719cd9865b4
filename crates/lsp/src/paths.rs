// SPDX-License-Identifier: MIT OR Apache-2.0
//! Paths of files in URIs, where all but a few bytes are written as `%` and two digits (RFC 3986 §2.1).

use lsp_types::Uri;

/// The path that a URI names.
pub fn path(uri: &Uri) -> String {
    let octets = uri.path().as_str().as_bytes();
    let mut path = Vec::with_capacity(octets.len());
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        let digits = octets.get(at + 1..at + 3).and_then(|d| std::str::from_utf8(d).ok());
        let coded = digits.filter(|_| octet == b'%').and_then(|d| u8::from_str_radix(d, 16).ok());
        path.push(coded.unwrap_or(octet));
        at += if coded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&path).into_owned()
}

/// The URI of a file; `None` if its path is none that a URI can name.
pub fn uri(path: &str) -> Option<Uri> {
    let mut text = "file://".to_owned();
    for octet in path.bytes() {
        if octet.is_ascii_alphanumeric() || b"/-._~".contains(&octet) {
            text.push(char::from(octet));
        } else {
            text.push_str(&format!("%{octet:02X}"));
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{path, uri};

    #[test]
    fn paths_come_back() {
        for it in ["/a/b.mtp", "/a b/é%20.mtp", "/100%", "/a+b:c@d"] {
            assert_eq!(path(&uri(it).expect("a URI")), it);
        }
    }
}
