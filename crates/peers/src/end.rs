// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end, or the program in the network: a core with its application, which takes and asks for all it can at once.

use std::collections::BTreeSet;

use carrick_ir::{NetLayer, ROUTE};
use carrick_sim::app::{App, Ask};
use carrick_sim::calls::{self, Calls};
use carrick_sim::core::{Core, Refused};
use carrick_sim::interface::Interface;
use carrick_sim::interpreted::Interpreted;
use carrick_sim::ip;
use carrick_sim::observe::Watch;

use crate::action::Way;
use crate::channel::{Input, changed};

/// Turns of requests and completions, and packets of a turn, for one input at most.
const TURNS: usize = 1000;
const PACKETS: u64 = 2000;
/// The interfaces of a program in the network.
const TO_CLIENT: u32 = 0;
const TO_SERVER: u32 = 1;

/// Where a host is, and so where its packets go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    /// an end: its packets go this way, if they are for the peer with this address
    End(Way, u32),
    /// between the ends; the address is that of the client
    Via(u32),
}

/// One end. All it has to do is done between two of its inputs.
pub(crate) struct End {
    pub core: Interpreted,
    pub app: App,
    /// requests that the core refused for now
    asks: Vec<Ask>,
    /// when the application wants to be woken, and for which connection
    wakes: BTreeSet<(u64, usize)>,
    calls: Calls,
    layer: NetLayer,
    at: At,
    seed: u64,
    /// what it is before anything happens
    blank: Vec<u8>,
    /// an interface by which it has sent a packet, and that there is not
    pub astray: Option<u32>,
    /// what it would go on with without end
    pub restless: Option<&'static str>,
    bytes: Vec<u8>,
}

/// Where what an end does goes.
pub(crate) struct Around<'o> {
    pub now: u64,
    pub host: usize,
    /// packets that it sends: the way of each, its number among all that were made, and its bytes
    pub sent: Vec<(Way, u64, Box<[u8]>)>,
    /// how many were made
    pub made: u64,
    /// who looks on
    pub watch: Watch<'o>,
}

impl<'o> Around<'o> {
    /// Around a host that is the first to send anything.
    pub(crate) fn of(now: u64, host: usize, watch: Watch<'o>) -> Around<'o> {
        Around { now, host, sent: Vec::new(), made: 0, watch }
    }
}

/// By which of them a packet comes.
fn interface_from(way: Way) -> u32 {
    if way == Way::ToServer { TO_CLIENT } else { TO_SERVER }
}

impl End {
    /// `seed` is that of the core.
    pub(crate) fn new(
        core: Interpreted,
        app: App,
        interface: Interface,
        layer: NetLayer,
        at: At,
        seed: u64,
    ) -> End {
        let mut end = End {
            core,
            app,
            asks: Vec::new(),
            wakes: BTreeSet::new(),
            calls: Calls::new(interface),
            layer,
            at,
            seed,
            blank: Vec::new(),
            astray: None,
            restless: None,
            bytes: Vec::new(),
        };
        let mut blank = Vec::new();
        end.save(&mut blank);
        end.blank = blank;
        end
    }

    /// The application begins.
    pub(crate) fn start(&mut self, around: &mut Around<'_>) {
        self.app.start(around.now);
        self.collect(around);
        self.pump(around);
    }

    /// Something happens to it.
    pub(crate) fn take(&mut self, input: Input<&[u8]>, around: &mut Around<'_>) {
        match input {
            Input::Packet(way, packet, bit) => self.arrive(way, &changed(packet, bit), around),
            Input::Time => self.time(around),
            Input::Crash(number) => self.crash(number, around),
        }
    }

    fn arrive(&mut self, way: Way, packet: &[u8], around: &mut Around<'_>) {
        loop {
            let taken = match self.at {
                At::End(..) => self.core.rx(packet, around.now),
                At::Via(_) => self.core.rx_on(interface_from(way), packet, around.now),
            };
            if taken != Err(Refused::Again) || !self.transmit(around) {
                break;
            }
        }
        self.pump(around);
    }

    /// Timers that are due fire, and the application is woken.
    fn time(&mut self, around: &mut Around<'_>) {
        while self.core.advance(around.now) == Err(Refused::Again) {
            if !self.transmit(around) {
                break;
            }
        }
        while let Some((at, conn)) = self.wakes.first().copied().filter(|(at, _)| *at <= around.now) {
            self.wakes.remove(&(at, conn));
            self.app.wake(conn, around.now);
            self.collect(around);
        }
        self.pump(around);
    }

    /// It is as it was before anything had happened, but for its random numbers, and begins.
    fn crash(&mut self, number: u8, around: &mut Around<'_>) {
        let blank = std::mem::take(&mut self.blank);
        // What was saved of this end is what it goes back to.
        let _ = self.restore(&blank, around.now);
        self.blank = blank;
        self.core.reseed(self.seed.wrapping_add(u64::from(number) << 32));
        self.start(around);
    }

    /// When something is due next.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let wake = self.wakes.first().map(|(at, _)| *at);
        self.core.next_deadline().into_iter().chain(wake).min()
    }

    /// What the core and the application are, as bytes in place of what `to` held.
    pub(crate) fn save(&mut self, to: &mut Vec<u8>) {
        to.clear();
        self.core.renumber_packets();
        self.core.save(to);
        let rest = (&self.app, &self.asks, &self.wakes);
        // A vector takes all that it is given.
        *to = postcard::to_extend(&rest, std::mem::take(to)).unwrap_or_default();
    }

    /// Goes back to what was saved.
    ///
    /// # Errors
    /// If it was not saved so.
    pub(crate) fn restore(&mut self, from: &[u8], now: u64) -> Result<(), String> {
        let rest = self.core.restore(from, now)?;
        (self.app, self.asks, self.wakes) = postcard::from_bytes(rest).map_err(|e| e.to_string())?;
        (self.restless, self.astray) = (None, None);
        Ok(())
    }

    /// Lets out and asks for all there is, until there is nothing more; or far too much.
    fn pump(&mut self, around: &mut Around<'_>) {
        let made = around.made;
        for _ in 0..TURNS {
            around.watch.trace(&mut self.core, around.host, around.now);
            let mut busy = self.transmit(around);
            if around.made - made > PACKETS {
                self.restless = Some("program sends packets without end");
                return;
            }
            busy |= self.requests(around);
            busy |= self.completions(around);
            if !busy {
                return;
            }
        }
        self.restless = Some("application makes requests without end");
    }

    /// Sends every packet that there is; false if there was none.
    fn transmit(&mut self, around: &mut Around<'_>) -> bool {
        let mut any = false;
        let made = around.made;
        while around.made - made <= PACKETS && self.core.tx(&mut self.bytes, around.now) {
            any = true;
            around.watch.trace(&mut self.core, around.host, around.now);
            around.made += 1;
            around.watch.observer.sent(around.now, around.host, around.made, &self.bytes);
            if let Some(way) = self.way() {
                around.sent.push((way, around.made, self.bytes.as_slice().into()));
            }
        }
        any
    }

    /// The way that the packet goes which was made last; `None`: nobody has its address.
    fn way(&mut self) -> Option<Way> {
        let is_for = |address| match self.layer {
            layer @ (NetLayer::Ipv4 | NetLayer::Ipv6) => {
                ip::destination(layer, &self.bytes) == Some(ip::address(layer, address))
            }
            NetLayer::Link => true,
        };
        match self.at {
            At::End(way, peer) => is_for(peer).then_some(way),
            At::Via(client) => match self.core.tx_interface() {
                TO_CLIENT => Some(Way::OnToClient),
                TO_SERVER => Some(Way::OnToServer),
                by if u64::from(by) == ROUTE => {
                    Some(if is_for(client) { Way::OnToClient } else { Way::OnToServer })
                }
                interface => {
                    self.astray = Some(interface);
                    None
                }
            },
        }
    }

    fn requests(&mut self, around: &mut Around<'_>) -> bool {
        let wakes = &mut self.wakes;
        let wake = |at, conn| {
            wakes.insert((at, conn));
        };
        let Around { now, host, watch, .. } = around;
        self.calls.make(&mut self.core, &mut self.asks, *now, wake, |core| watch.trace(core, *host, *now))
    }

    fn completions(&mut self, around: &mut Around<'_>) -> bool {
        let (app, asks) = (&mut self.app, &mut self.asks);
        let Around { now, host, watch, .. } = around;
        calls::completions(&mut self.core, |done| {
            watch.observer.completed(*now, *host, done);
            app.completed(done, *now);
            calls::collect(app, asks, *host, watch.observer);
        })
    }

    fn collect(&mut self, around: &mut Around<'_>) {
        calls::collect(&mut self.app, &mut self.asks, around.host, around.watch.observer);
    }
}
