// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many connections at a time: an echo server, and what measures one (as the application `load` of the native target).

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Instant;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;

use crate::connection::{Answer, LoadError};
use crate::socket::{self, Listener};

const CHUNK: usize = 64 * 1024;

/// Sockets, each with a number, of which one waits for those that can be read.
struct Watch {
    epoll: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl Watch {
    fn new() -> Result<Watch, LoadError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(std::io::Error::from)?;
        Ok(Watch { epoll, ready: Vec::with_capacity(256) })
    }

    fn add(&self, socket: impl std::os::fd::AsFd, number: usize) -> Result<(), LoadError> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::add(&self.epoll, socket, data, EventFlags::IN).map_err(std::io::Error::from)?)
    }

    fn wait(&mut self) -> Result<Vec<usize>, LoadError> {
        self.ready.clear();
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.ready), None)
            .map_err(std::io::Error::from)?;
        Ok(self.ready.iter().map(|event| usize::try_from(event.data.u64()).unwrap_or(0)).collect())
    }
}

/// Sends back what comes over any connection, for ever.
pub fn serve(listener: &Listener) -> Answer {
    let mut watch = Watch::new()?;
    let mut connections: Vec<Option<TcpStream>> = Vec::new();
    let mut free = Vec::new();
    let mut buffer = vec![0; CHUNK];
    watch.add(&listener.0, usize::MAX)?;
    loop {
        for number in watch.wait()? {
            if number == usize::MAX {
                let stream = listener.accept()?;
                stream.set_nodelay(true)?;
                let place = free.pop().unwrap_or_else(|| {
                    connections.push(None);
                    connections.len() - 1
                });
                watch.add(&stream, place)?;
                connections[place] = Some(stream);
                continue;
            }
            let Some(stream) = &mut connections[number] else { continue };
            let echoed = stream.read(&mut buffer).and_then(|n| stream.write_all(&buffer[..n]).map(|()| n));
            if echoed.map_or(true, |n| n == 0) {
                connections[number] = None;
                free.push(number);
            }
        }
    }
}

/// What is asked of a server.
pub struct Load {
    pub at: (String, u16),
    pub connections: usize,
    /// requests that are open at a time
    pub at_once: usize,
    pub octets: usize,
    /// of a connection; 0: all
    pub messages: usize,
    pub count: usize,
}

struct Flow {
    stream: TcpStream,
    begin: Instant,
    got: usize,
    messages: usize,
}

struct Run<'a> {
    load: &'a Load,
    watch: Watch,
    flows: Vec<Flow>,
    idle: VecDeque<usize>,
    begun: usize,
    going: usize,
    times: Vec<u128>,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Load {
    /// Nanoseconds in all, and of a request: median, 99th percentile.
    pub fn run(&self) -> Answer {
        let mut run = Run {
            load: self,
            watch: Watch::new()?,
            flows: Vec::new(),
            idle: VecDeque::new(),
            begun: 0,
            going: 0,
            times: Vec::with_capacity(self.count),
            out: vec![0x5a; self.octets],
            buffer: vec![0; CHUNK],
        };
        for place in 0..self.connections {
            let flow = run.connected(place)?;
            run.flows.push(flow);
        }
        let begin = Instant::now();
        run.begin()?;
        while run.times.len() < self.count {
            for place in run.watch.wait()? {
                run.received(place)?;
            }
        }
        let took = begin.elapsed().as_nanos();
        run.times.sort_unstable();
        let at = |percent: usize| run.times[(run.times.len() * percent / 100).min(run.times.len() - 1)];
        Ok(format!("ok {took} {} {}", at(50), at(99)))
    }
}

impl Run<'_> {
    fn connected(&mut self, place: usize) -> Result<Flow, LoadError> {
        let stream = TcpStream::connect((self.load.at.0.as_str(), self.load.at.1))?;
        stream.set_nodelay(true)?;
        self.watch.add(&stream, place)?;
        self.idle.push_back(place);
        Ok(Flow { stream, begin: Instant::now(), got: 0, messages: 0 })
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        while self.going < self.load.at_once && self.begun < self.load.count {
            let Some(place) = self.idle.pop_front() else { break };
            let flow = &mut self.flows[place];
            (flow.begin, flow.got) = (Instant::now(), 0);
            (self.begun, self.going) = (self.begun + 1, self.going + 1);
            flow.stream.write_all(&self.out)?;
        }
        Ok(())
    }

    fn received(&mut self, place: usize) -> Result<(), LoadError> {
        let flow = &mut self.flows[place];
        match flow.stream.read(&mut self.buffer)? {
            0 => return Err("end 0".into()),
            n => flow.got += n,
        }
        if flow.got < self.load.octets {
            return Ok(());
        }
        self.times.push(flow.begin.elapsed().as_nanos());
        self.going -= 1;
        flow.messages += 1;
        if flow.messages == self.load.messages {
            socket::linger_zero(&flow.stream)?;
            self.flows[place] = self.connected(place)?;
        } else {
            self.idle.push_back(place);
        }
        self.begin()
    }
}

/// The next datagram; `spin`: never waits in the kernel.
fn datagram(
    socket: &UdpSocket,
    buffer: &mut [u8],
    spin: bool,
) -> std::io::Result<(usize, std::net::SocketAddr)> {
    loop {
        match socket.recv_from(buffer) {
            Err(error) if spin && error.kind() == ErrorKind::WouldBlock => {}
            other => return other,
        }
    }
}

/// Sends back datagrams, for ever.
pub fn udp_echo(port: u16, spin: bool) -> Answer {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_nonblocking(spin)?;
    let mut buffer = vec![0; CHUNK];
    loop {
        let (n, from) = datagram(&socket, &mut buffer, spin)?;
        socket.send_to(&buffer[..n], from)?;
    }
}

/// Nanoseconds of a datagram there and back: median, 99th percentile.
pub fn udp_ping(at: (&str, u16), count: usize, size: usize, spin: bool) -> Answer {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(at)?;
    socket.set_nonblocking(spin)?;
    let mut buffer = vec![0; size];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begin = Instant::now();
        socket.send(&buffer)?;
        datagram(&socket, &mut buffer, spin)?;
        times.push(begin.elapsed().as_nanos());
    }
    times.sort_unstable();
    Ok(format!("ok {} {}", times[count / 2], times[count * 99 / 100]))
}
