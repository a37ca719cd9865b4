// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network, between the two devices of the namespace in the middle.

use std::path::Path;

use crate::build::{carrick, host, root};
use crate::middle::{Middle, Place};
use crate::net::skip;
use crate::running::{Running, saying, started};

/// What a node said when it ended.
pub struct Report(pub Vec<String>);

impl Report {
    /// A counter; 0 where it was not said.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        let named = |line: &&String| line.split_whitespace().next() == Some(name);
        let line = self.0.iter().find(named);
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }
}

/// A program at the node.
pub struct Node(pub Running, pub Box<dyn Iterator<Item = String>>);

impl Node {
    /// A process between the devices of the node, which gives it ports of these kinds.
    pub fn start(middle: &Middle, program: &str, kinds: [&str; 2], more: &[&str]) -> Node {
        Node::start_host(middle, &host(program), kinds, more)
    }

    /// The same, of a host that is built.
    pub fn start_host(middle: &Middle, host: &Path, kinds: [&str; 2], more: &[&str]) -> Node {
        let mut command = middle.command(Place::Node, &host.to_string_lossy());
        command.args(Middle::ports(kinds)).args(more);
        let (running, said) = saying(&mut command, "running between");
        Node(running, Box::new(said))
    }

    /// In the kernel of the node: its devices give the program their frames. `None`, said aloud, where that cannot be.
    ///
    /// # Panics
    /// If it fails for another reason.
    pub fn in_kernel(middle: &Middle, program: &str, more: &[&str]) -> Option<Node> {
        // What XDP sends by a pair of devices arrives where the other end takes frames in batches.
        for place in [Place::Client, Place::Server] {
            let taken = middle.command(place, "ethtool").args(["-K", "wire0", "gro", "on"]).status();
            assert!(taken.is_ok_and(|status| status.success()), "{place:?}");
        }
        let mut command = middle.command(Place::Node, &carrick().to_string_lossy());
        command.arg("run").arg(root().join(program)).args(["--target", "xdp"]).args(more);
        for device in Middle::DEVICES {
            command.args(["--port", device]);
        }
        let (running, mut said) = started(&mut command);
        let mut before = Vec::new();
        for line in said.by_ref() {
            if line.ends_with(" is between west0 and east0") {
                return Some(Node(running, Box::new(said)));
            }
            before.push(line);
        }
        assert_eq!(running.ended().code(), Some(3), "{before:?}");
        skip(&before.join(" "));
        None
    }

    /// Ends it.
    ///
    /// # Panics
    /// If that fails.
    #[must_use]
    pub fn end(self) -> Report {
        assert!(self.0.end().success());
        Report(self.1.collect())
    }
}
