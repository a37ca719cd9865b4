// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can happen next.

use std::fmt;

/// The number of the host between the ends, where there is one; 0 is the client, 1 the server.
pub const VIA: usize = 2;

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// from the client towards the server: to the program in the network, if there is one
    ToServer,
    /// from the server towards the client
    ToClient,
    /// from the program in the network to the server
    OnToServer,
    /// from the program in the network to the client
    OnToClient,
}

impl Way {
    /// All of them; the first two are all that there are without a program in the network.
    pub const ALL: [Way; 4] = [Way::ToServer, Way::ToClient, Way::OnToServer, Way::OnToClient];

    /// The number of the host where it begins.
    pub fn from(self) -> usize {
        match self {
            Way::ToServer => 0,
            Way::ToClient => 1,
            Way::OnToServer | Way::OnToClient => VIA,
        }
    }

    /// And where it ends, with a program in the network or without one.
    pub fn to(self, via: bool) -> usize {
        match self {
            Way::ToServer | Way::ToClient if via => VIA,
            Way::ToServer | Way::OnToServer => 1,
            Way::ToClient | Way::OnToClient => 0,
        }
    }

    /// That of the packet that an action is about, if it is about one.
    pub fn of(action: Action) -> Option<Way> {
        match action {
            Action::Deliver(way, _)
            | Action::Lose(way)
            | Action::Duplicate(way, _)
            | Action::Corrupt(way, ..) => Some(way),
            Action::Time(_) | Action::Crash(_) => None,
        }
    }
}

/// How often each fault may happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// packets that never arrive
    pub lose: u8,
    /// packets that arrive twice
    pub duplicate: u8,
    /// packets that overtake others
    pub reorder: u8,
    /// packets of which a bit is changed
    pub corrupt: u8,
    /// time passes while packets are on their way
    pub delay: u8,
    /// an end forgets everything and begins anew
    pub crash: u8,
}

impl Faults {
    /// All of them together.
    pub(crate) fn total(self) -> u32 {
        let Faults { lose, duplicate, reorder, corrupt, delay, crash } = self;
        [lose, duplicate, reorder, corrupt, delay, crash].into_iter().map(u32::from).sum()
    }

    /// Whether what arrives at one host and what arrives at another can be done in one order, as any other order gives the same: a
    /// packet that overtakes, a moment that passes and an end that begins anew depend on what else is on its way.
    pub(crate) fn ways_commute(self) -> bool {
        self.reorder == 0 && self.delay == 0 && self.crash == 0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.lose, "lost"),
            (self.duplicate, "duplicated"),
            (self.reorder, "reordered"),
            (self.corrupt, "corrupted"),
            (self.delay, "held back"),
            (self.crash, "crashed"),
        ];
        let said: Vec<String> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if said.is_empty() { f.write_str("no faults") } else { write!(f, "at most {}", said.join(", ")) }
    }
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// the packet at this place of a way arrives, and overtakes those before it
    Deliver(Way, u8),
    /// the first one is lost
    Lose(Way),
    /// the packet at this place of a way arrives, and a copy of it stays there
    Duplicate(Way, u8),
    /// it arrives with this bit changed: that of the first byte of least weight is the first
    Corrupt(Way, u8, u32),
    /// time passes until something is due at a host
    Time(u8),
    /// the end at a host begins anew
    Crash(u8),
}

impl Action {
    /// Whether its packet overtakes others.
    pub fn overtakes(self) -> bool {
        matches!(self, Action::Deliver(_, 1..) | Action::Duplicate(_, 1..) | Action::Corrupt(_, 1.., _))
    }
}
