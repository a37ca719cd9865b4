// SPDX-License-Identifier: MIT OR Apache-2.0
//! Serves a listening socket: a client sends one request, gets one answer, and its connection is closed. No client waits for a
//! slow one, however many of those there are: one more client takes the place of the one that has been silent for the longest time.
//!
//! [`Server`] does it through [`Sockets`]: those of Linux, or those of `simulated_clients.rs`, where a seed makes clients and faults
//! and a model checks what each client sees.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Time that a client has to send its request, and again to receive the answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Clients at once; for a further one, the slowest of these is closed.
pub const CLIENTS: usize = 32;
/// Time until connections are accepted again after an error, as when no descriptor is left.
pub const PAUSE: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const PIECE: usize = 1024;

/// Returns the answer to a request.
type Answer = dyn Fn(&[u8]) -> Vec<u8> + Send;

/// What requests and answers are.
pub struct Protocol {
    /// whether a request is complete
    pub is_whole: fn(&[u8]) -> bool,
    /// bytes of the longest request
    pub longest: usize,
    /// also called with a request that is too long or cut off
    pub answer: Box<Answer>,
}

/// What a server needs of a system. Nothing but `wait` blocks.
pub trait Sockets {
    /// The time; any clock that never goes back.
    fn now(&self) -> Duration;
    /// Waits until one of these clients can be read (or written, if true), a connection can be accepted where that is wanted, or
    /// until this time; may return early. Returns the clients, and whether there is a connection.
    fn wait(&mut self, clients: &[(u64, bool)], accept: bool, until: Option<Duration>) -> (Vec<u64>, bool);
    /// Accepts a connection: from now on it is the client with this number.
    ///
    /// # Errors
    /// What the system says.
    fn accept(&mut self, number: u64) -> io::Result<()>;
    /// Reads what a client has sent; 0: it sends no more.
    ///
    /// # Errors
    /// What the system says.
    fn read(&mut self, number: u64, piece: &mut [u8]) -> io::Result<usize>;
    /// Writes to a client, and returns how much was written.
    ///
    /// # Errors
    /// What the system says.
    fn write(&mut self, number: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Closes the connection of a client.
    fn close(&mut self, number: u64);
}

struct Client {
    /// when it is given up
    until: Duration,
    /// the request until it is complete, then the rest of the answer
    bytes: Vec<u8>,
    answered: bool,
}

/// The server of one socket.
pub struct Server {
    protocol: Protocol,
    clients: BTreeMap<u64, Client>,
    /// the number of the last client
    last: u64,
    /// no connection is accepted before this time
    pause: Duration,
}

impl Server {
    /// A server without clients.
    pub fn new(protocol: Protocol) -> Server {
        Server { protocol, clients: BTreeMap::new(), last: 0, pause: Duration::ZERO }
    }

    /// Waits until something can be done, and does it.
    pub fn turn(&mut self, sockets: &mut impl Sockets) {
        let now = sockets.now();
        let wanted: Vec<_> = self.clients.iter().map(|(number, of)| (*number, of.answered)).collect();
        let pauses = now < self.pause;
        let accepts_at = pauses.then_some(self.pause);
        let until = self.clients.values().map(|client| client.until).chain(accepts_at).min();
        let (ready, arrives) = sockets.wait(&wanted, !pauses, until);
        let now = sockets.now();
        for number in ready {
            if let Some(client) = self.clients.get_mut(&number) {
                match exchange(&self.protocol, client, number, now, sockets) {
                    Ok(false) => {}
                    Ok(true) => self.close(number, sockets),
                    Err(e) if is_early(&e) => {}
                    Err(_) => self.close(number, sockets),
                }
            }
        }
        let late: Vec<_> = self.clients.iter().filter(|(_, of)| of.until <= now).map(|(n, _)| *n).collect();
        late.into_iter().for_each(|number| self.close(number, sockets));
        if arrives {
            self.accept(now, sockets);
        }
    }

    fn accept(&mut self, now: Duration, sockets: &mut impl Sockets) {
        match sockets.accept(self.last + 1) {
            Ok(()) => {
                self.last += 1;
                let client = Client { until: now + PATIENCE, bytes: Vec::new(), answered: false };
                self.clients.insert(self.last, client);
                if self.clients.len() > CLIENTS {
                    self.close_slowest(sockets);
                }
            }
            Err(e) if is_early(&e) => {}
            Err(_) => self.pause = now + PAUSE,
        }
    }

    /// Closes a client that has sent nothing, else one whose request is not complete, else any: of those, the oldest.
    fn close_slowest(&mut self, sockets: &mut impl Sockets) {
        let older = self.clients.range(..self.last);
        let slowest = older.min_by_key(|(number, of)| (of.answered, !of.bytes.is_empty(), **number));
        if let Some(number) = slowest.map(|(number, _)| *number) {
            self.close(number, sockets);
        }
    }

    fn close(&mut self, number: u64, sockets: &mut impl Sockets) {
        self.clients.remove(&number);
        sockets.close(number);
    }
}

/// The call is to be made again when there is something to be done.
fn is_early(error: &io::Error) -> bool {
    let early = [ErrorKind::WouldBlock, ErrorKind::Interrupted, ErrorKind::ConnectionAborted];
    early.contains(&error.kind())
}

/// Reads from a client or writes to it. Returns whether it has its answer.
fn exchange(
    protocol: &Protocol,
    client: &mut Client,
    number: u64,
    now: Duration,
    sockets: &mut impl Sockets,
) -> io::Result<bool> {
    if client.answered {
        let count = sockets.write(number, &client.bytes)?;
        client.bytes.drain(..count);
        return Ok(client.bytes.is_empty());
    }
    let mut piece = [0; PIECE];
    let count = sockets.read(number, &mut piece)?;
    let request = &mut client.bytes;
    request.extend_from_slice(&piece[..count]);
    if count == 0 || request.len() > protocol.longest || (protocol.is_whole)(request) {
        *client = Client { until: now + PATIENCE, bytes: (protocol.answer)(&client.bytes), answered: true };
    }
    Ok(false)
}

/// A socket on which connections arrive.
pub trait Listener: AsFd + Send + 'static {
    /// A connection.
    type Stream: Read + Write + AsFd + Send;
    /// Makes [`Listener::next`] return at once.
    ///
    /// # Errors
    /// What the system says.
    fn begin(&self) -> io::Result<()>;
    /// Accepts a connection, whose calls return at once too.
    ///
    /// # Errors
    /// What the system says.
    fn next(&self) -> io::Result<Self::Stream>;
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    fn begin(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }

    fn next(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.accept()?;
        stream.set_nonblocking(true).map(|()| stream)
    }
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    fn begin(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }

    fn next(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.accept()?;
        stream.set_nonblocking(true).map(|()| stream)
    }
}

/// Serves a socket until this process ends.
///
/// # Errors
/// What the system says.
pub fn listen<L: Listener>(listener: L, protocol: Protocol) -> io::Result<()> {
    listener.begin()?;
    let mut sockets = Linux { listener, streams: BTreeMap::new(), clock: Instant::now() };
    let mut server = Server::new(protocol);
    let serve = move || {
        loop {
            server.turn(&mut sockets);
        }
    };
    thread::Builder::new().spawn(serve).map(|_| ())
}

/// A listening socket of Linux, and its connections.
struct Linux<L: Listener> {
    listener: L,
    streams: BTreeMap<u64, L::Stream>,
    clock: Instant,
}

impl<L: Listener> Linux<L> {
    fn stream(&mut self, number: u64) -> io::Result<&mut L::Stream> {
        self.streams.get_mut(&number).ok_or(ErrorKind::NotConnected.into())
    }
}

impl<L: Listener> Sockets for Linux<L> {
    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    fn wait(&mut self, clients: &[(u64, bool)], accept: bool, until: Option<Duration>) -> (Vec<u64>, bool) {
        let streams = clients.iter().filter_map(|(number, write)| Some((self.streams.get(number)?, *write)));
        let mut fds: Vec<_> = streams
            .map(|(stream, write)| PollFd::new(stream, if write { PollFlags::OUT } else { PollFlags::IN }))
            .collect();
        if accept {
            fds.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        let left = until.map(|until| until.saturating_sub(self.clock.elapsed()));
        // A signal interrupts it, and the caller waits again.
        let _ = poll(&mut fds, left.and_then(|left| Timespec::try_from(left).ok()).as_ref());
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let of = clients.iter().filter(|_| ready.next() == Some(true)).map(|(number, _)| *number).collect();
        (of, ready.next() == Some(true))
    }

    fn accept(&mut self, number: u64) -> io::Result<()> {
        self.streams.insert(number, self.listener.next()?);
        Ok(())
    }

    fn read(&mut self, number: u64, piece: &mut [u8]) -> io::Result<usize> {
        self.stream(number)?.read(piece)
    }

    fn write(&mut self, number: u64, bytes: &[u8]) -> io::Result<usize> {
        self.stream(number)?.write(bytes)
    }

    fn close(&mut self, number: u64) {
        self.streams.remove(&number);
    }
}
