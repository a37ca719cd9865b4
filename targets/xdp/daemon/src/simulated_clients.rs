// SPDX-License-Identifier: MIT OR Apache-2.0
//! The server of a socket with simulated clients: a seed makes clients that ask at once or in pieces, send nonsense, half a line or
//! nothing, take their answer slowly or not at all, and go away at any time; calls that fail; waits that return for nothing; and
//! time that jumps. A model checks what each client gets, and when.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::time::Duration;

use crate::control::{Question, UNKNOWN, protocol};
use crate::random::{Random, seeds};
use crate::server::{CLIENTS, PATIENCE, PAUSE, Server, Sockets};

const SEEDS: u64 = 5_000;
/// Clients of a run.
const CROWD: u64 = 100;
/// Turns of the server in a run at most: it does not spin.
const TURNS: u64 = 20_000;
/// The longest time that a wait returns too late.
const LATE: u64 = 2_000;

/// A client, and what it saw.
struct Client {
    arrives: Duration,
    /// what it sends, and when
    sends: VecDeque<(Duration, Vec<u8>)>,
    /// it sends no more after that
    shuts: bool,
    /// when it goes away
    leaves: Option<Duration>,
    /// bytes of the answer that it takes at once, and the time until the next ones
    takes: (usize, Duration),
    next_take: Duration,
    /// what was sent so far
    asked: Vec<u8>,
    /// the part that the server has read
    read: usize,
    /// how far the server is with it: it has read nothing, a part, all
    step: u8,
    got: Vec<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Coming,
    Waiting,
    Accepted(u64, Duration),
    Closed(Duration),
}

/// How often something happened in all runs.
#[derive(Debug, Default)]
struct Seen {
    answers: u64,
    errors: u64,
    given_up: u64,
    full: u64,
    pauses: u64,
}

struct World {
    random: Random,
    now: Duration,
    clients: Vec<Client>,
    /// accepted clients by the server's number
    numbers: BTreeMap<u64, usize>,
    /// clients that the last wait returned, and the server has not served since
    due: BTreeSet<u64>,
    /// when the server may accept again
    pause: Duration,
    wrong: Option<String>,
    seen: Seen,
}

fn answer(question: Question) -> String {
    format!("{question:?}, at length\n")
}

/// What the control socket answers to these bytes; none while it waits for more.
fn right(asked: &[u8], shuts: bool) -> Option<String> {
    let known = [Question::Status, Question::Connections].into_iter().find(|q| q.line().as_bytes() == asked);
    let ends = shuts || asked.contains(&b'\n') || asked.len() > 64;
    known.map(answer).or(ends.then(|| UNKNOWN.to_owned()))
}

impl Client {
    /// A client that arrives within so many milliseconds.
    fn new(random: &mut Random, within: u64) -> Client {
        let arrives = random.time(within);
        let line = if random.one_in(2) { Question::Status } else { Question::Connections }.line();
        let text = match random.below(6) {
            0 => line[..random.below(line.len() as u64) as usize].into(),
            1 => "x".repeat(random.below(200) as usize).into_bytes(),
            2 => (0..random.below(80)).map(|_| random.below(256) as u8).collect(),
            _ => line.as_bytes().to_vec(),
        };
        let (mut sends, mut at) = (VecDeque::new(), arrives);
        let whole = random.one_in(2);
        for piece in text.chunks(if whole { 256 } else { 1 + random.below(8) as usize }) {
            sends.push_back((at, piece.to_vec()));
            at += random.time(3_000);
        }
        Client {
            arrives,
            sends,
            shuts: random.one_in(3),
            leaves: random.one_in(4).then(|| arrives + random.time(15_000)),
            takes: if random.one_in(4) { (1, random.time(1_000)) } else { (1_000, Duration::ZERO) },
            next_take: Duration::ZERO,
            asked: Vec::new(),
            read: 0,
            step: 0,
            got: Vec::new(),
            state: State::Coming,
        }
    }

    /// Brings it to this time.
    fn pass(&mut self, now: Duration) {
        if self.state == State::Coming && self.arrives <= now {
            self.state = State::Waiting;
        }
        while self.state != State::Coming && self.sends.front().is_some_and(|(at, _)| *at <= now) {
            self.asked.extend(self.sends.pop_front().into_iter().flat_map(|(_, piece)| piece));
        }
    }

    fn is_gone(&self, now: Duration) -> bool {
        self.leaves.is_some_and(|at| at <= now)
    }

    fn has_shut(&self, now: Duration) -> bool {
        self.is_gone(now) || (self.shuts && self.sends.is_empty())
    }

    fn is_readable(&self, now: Duration) -> bool {
        self.read < self.asked.len() || self.has_shut(now)
    }

    /// When something of it changes next.
    fn next(&self, now: Duration) -> Option<Duration> {
        let leaves = self.leaves.filter(|at| *at > now);
        let take = (self.next_take > now).then_some(self.next_take);
        let arrives = (self.state == State::Coming).then_some(self.arrives);
        let sends = self.sends.front().map(|(at, _)| *at);
        [leaves, take, arrives, sends].into_iter().flatten().min()
    }
}

impl World {
    fn new(seed: u64, seen: Seen) -> World {
        let mut random = Random(seed);
        let count = 1 + random.below(CROWD);
        let within = if random.one_in(4) { 1_000 } else { 60_000 };
        let clients = (0..count).map(|_| Client::new(&mut random, within)).collect();
        let (now, pause) = (Duration::ZERO, Duration::ZERO);
        World {
            random,
            now,
            clients,
            numbers: BTreeMap::new(),
            due: BTreeSet::new(),
            pause,
            wrong: None,
            seen,
        }
    }

    fn check(&mut self, right: bool, wrong: impl FnOnce() -> String) {
        if !right && self.wrong.is_none() {
            self.wrong = Some(format!("{:?}: {}", self.now, wrong()));
        }
    }

    fn client(&mut self, number: u64) -> io::Result<&mut Client> {
        self.due.remove(&number);
        let Some(index) = self.numbers.get(&number) else {
            self.check(false, || format!("client {number} is closed, and used"));
            return Err(ErrorKind::NotConnected.into());
        };
        Ok(&mut self.clients[*index])
    }

    fn is_ready(&self, number: u64, write: bool) -> bool {
        let Some(index) = self.numbers.get(&number) else { return false };
        let client = &self.clients[*index];
        let can_take = client.next_take <= self.now || client.is_gone(self.now);
        if write { can_take } else { client.is_readable(self.now) }
    }

    /// Whether there is one client too many, and this one is to make way for the newest.
    fn is_slowest(&self, number: u64) -> bool {
        let newest = self.numbers.keys().max();
        let others = self.numbers.iter().filter(|(of, _)| Some(*of) != newest);
        let slowest = others.min_by_key(|(of, index)| (self.clients[**index].step, **of));
        self.numbers.len() > CLIENTS && slowest.is_some_and(|(of, _)| *of == number)
    }

    fn is_waiting(&self) -> bool {
        self.clients.iter().any(|client| client.state == State::Waiting)
    }

    /// What the server waits for is what it has to wait for.
    fn waits_right(&mut self, clients: &[(u64, bool)], accept: bool, until: Option<Duration>) {
        let now = self.now;
        let open: Vec<u64> = self.numbers.keys().copied().collect();
        let waits: Vec<u64> = clients.iter().map(|(number, _)| *number).collect();
        self.check(open == waits, || format!("it waits for {waits:?}, and {open:?} are open"));
        self.check(accept == (self.pause <= now), || format!("accepts: {accept}"));
        self.check(open.len() <= CLIENTS, || format!("{} clients", open.len()));
        let late = until.is_none_or(|until| until > now + PATIENCE);
        self.check(!late || open.is_empty(), || format!("it waits until {until:?}, and clients are there"));
    }

    /// All that was promised, once nothing happens any more.
    fn ends_right(&mut self) {
        self.check(self.numbers.is_empty(), || "a connection is left".into());
        for index in 0..self.clients.len() {
            let (state, got) = (self.clients[index].state, self.clients[index].got.clone());
            self.check(matches!(state, State::Closed(_)), || format!("client {index} is {state:?}"));
            self.seen.answers += u64::from(got.starts_with(b"Status") || got.starts_with(b"Connections"));
            self.seen.errors += u64::from(got == UNKNOWN.as_bytes());
            self.seen.given_up += u64::from(got.is_empty());
        }
    }

    fn run(&mut self) {
        let mut server = Server::new(protocol(Box::new(answer)));
        let mut turns = 0;
        let is_open = |client: &Client| !matches!(client.state, State::Closed(_));
        while self.wrong.is_none() && self.clients.iter().any(is_open) {
            turns += 1;
            self.check(turns < TURNS, || "it spins".into());
            server.turn(self);
        }
        self.ends_right();
    }
}

impl Sockets for World {
    fn now(&self) -> Duration {
        self.now
    }

    fn wait(&mut self, clients: &[(u64, bool)], accept: bool, until: Option<Duration>) -> (Vec<u64>, bool) {
        self.waits_right(clients, accept, until);
        self.check(self.due.is_empty(), || "a client waits for another".into());
        loop {
            let now = self.now;
            self.clients.iter_mut().for_each(|client| client.pass(now));
            let ready: Vec<u64> =
                clients.iter().filter(|(n, write)| self.is_ready(*n, *write)).map(|(n, _)| *n).collect();
            let arrives = accept && self.is_waiting();
            let is_over = until.is_some_and(|until| until <= now) || self.random.one_in(50);
            if !ready.is_empty() || arrives || is_over {
                self.due.extend(&ready);
                return (ready, arrives);
            }
            let next = self.clients.iter().filter_map(|client| client.next(now)).chain(until).min();
            let Some(next) = next else {
                self.check(false, || "it waits for ever".into());
                return (ready, arrives);
            };
            let late = if self.random.one_in(20) { self.random.time(LATE) } else { Duration::ZERO };
            self.now = next.max(now) + late;
        }
    }

    fn accept(&mut self, number: u64) -> io::Result<()> {
        let waiting = (0..self.clients.len()).filter(|index| self.clients[*index].state == State::Waiting);
        let first = waiting.min_by_key(|index| self.clients[*index].arrives);
        let index = first.ok_or(ErrorKind::WouldBlock)?;
        match self.random.below(20) {
            0 => return Err(ErrorKind::Interrupted.into()),
            1 => {
                self.pause = self.now + PAUSE;
                self.seen.pauses += 1;
                return Err(io::Error::other("no descriptor is left"));
            }
            _ => {}
        }
        self.clients[index].state = State::Accepted(number, self.now);
        self.numbers.insert(number, index);
        Ok(())
    }

    fn read(&mut self, number: u64, piece: &mut [u8]) -> io::Result<usize> {
        let (now, early) = (self.now, self.random.one_in(20));
        let client = self.client(number)?;
        if early || !client.is_readable(now) {
            return Err(ErrorKind::WouldBlock.into());
        }
        if client.is_gone(now) && client.read == client.asked.len() {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let whole = right(&client.asked[..client.read], false).is_some();
        let count = piece.len().min(client.asked.len() - client.read);
        piece[..count].copy_from_slice(&client.asked[client.read..client.read + count]);
        client.read += count;
        let ends = count == 0 || right(&client.asked[..client.read], false).is_some();
        client.step = if ends { 2 } else { 1 };
        self.check(!whole, || format!("{number} has asked, and is read again"));
        Ok(count)
    }

    fn write(&mut self, number: u64, bytes: &[u8]) -> io::Result<usize> {
        let (now, early) = (self.now, self.random.one_in(20));
        let client = self.client(number)?;
        if client.is_gone(now) {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if early || client.next_take > now {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = bytes.len().min(client.takes.0);
        client.got.extend_from_slice(&bytes[..count]);
        client.next_take = now + client.takes.1;
        let shuts = client.has_shut(now);
        let expected = right(&client.asked[..client.read], shuts).unwrap_or_default();
        let (asked, got) = (client.asked[..client.read].to_vec(), client.got.clone());
        self.check(expected.as_bytes().starts_with(&got), || format!("{asked:?} gets {got:?}"));
        Ok(count)
    }

    fn close(&mut self, number: u64) {
        let now = self.now;
        let Ok(client) = self.client(number) else { return };
        let State::Accepted(_, since) = client.state else { return };
        client.state = State::Closed(now);
        let expected = right(&client.asked[..client.read], client.has_shut(now));
        let has_all = expected.is_some_and(|answer| answer.as_bytes() == client.got);
        let is_gone = client.is_gone(now);
        let gives_way = self.is_slowest(number);
        self.seen.full += u64::from(gives_way);
        self.numbers.remove(&number);
        let age = now - since;
        let rightly = has_all || is_gone || age >= PATIENCE || gives_way;
        self.check(rightly, || format!("{number} is closed after {age:?}"));
        let most = 2 * (PATIENCE + 2 * Duration::from_millis(LATE));
        self.check(age <= most, || format!("{number} is kept for {age:?}"));
    }
}

#[test]
fn each_client_gets_one_answer_or_the_end_and_waits_for_no_other() {
    let (all, mut seen) = (seeds(0..SEEDS), Seen::default());
    for seed in all.clone() {
        let mut world = World::new(seed, seen);
        world.run();
        if let Some(wrong) = world.wrong {
            panic!("{wrong}\nCARRICK_SEED={seed} cargo test -p carrick-daemon simulated_clients");
        }
        seen = world.seen;
    }
    let counts = [seen.answers, seen.errors, seen.given_up, seen.full, seen.pauses];
    assert!(all.end - all.start < SEEDS || counts.iter().all(|count| *count > SEEDS / 100), "{seen:?}");
}
