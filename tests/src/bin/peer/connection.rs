// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be asked of one connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use carrick_tests::pattern;

use crate::number;
use crate::socket;

/// Why a command was not done; its text is the answer.
pub struct LoadError(pub String);

/// The line that answers a command.
pub type Answer = Result<String, LoadError>;

const CHUNK: usize = 64 * 1024;

/// A connection and how far its two streams of bytes have come.
pub struct Connection {
    stream: TcpStream,
    sent: u64,
    received: u64,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Connection {
        Connection { stream, sent: 0, received: 0 }
    }

    pub fn obey(&mut self, words: &[&str]) -> Answer {
        match *words {
            ["send", n, seed] => self.send(number(n)?, number(seed)?),
            ["recv", n, seed] => self.recv(number(n)?, number(seed)?),
            ["finish", seed] => self.finish(number(seed)?),
            ["exchange", n, ours, m, theirs] => {
                self.exchange(number(n)?, number(ours)?, number(m)?, number(theirs)?)
            }
            ["shutdown"] => {
                self.stream.shutdown(Shutdown::Write)?;
                Ok("ok".into())
            }
            ["wait_unread", n] => self.wait_unread(number(n)?),
            ["nodelay"] => {
                self.stream.set_nodelay(true)?;
                Ok("ok".into())
            }
            ["echo", ref spin @ ..] => self.echo(spin == ["spin"]),
            ["blast", n] => self.blast(number(n)?),
            ["ping", count, size, ref spin @ ..] => {
                self.ping(number(count)?, number(size)?, spin == ["spin"])
            }
            ["timed_recv", n] => self.timed_recv(number(n)?),
            _ => Err(format!("unknown command: {}", words.join(" ")).into()),
        }
    }

    /// Closes with a reset: a linger time of zero.
    pub fn abort(self) -> Answer {
        socket::linger_zero(&self.stream)?;
        Ok("ok".into())
    }

    fn send(&mut self, n: u64, seed: u64) -> Answer {
        send(&mut self.stream, &mut self.sent, n, seed)?;
        Ok(format!("ok {n}"))
    }

    fn recv(&mut self, n: u64, seed: u64) -> Answer {
        recv(&mut self.stream, &mut self.received, n, seed)?;
        Ok(format!("ok {n}"))
    }

    /// Receives to the end of the stream.
    fn finish(&mut self, seed: u64) -> Answer {
        let before = self.received;
        let mut buffer = vec![0; CHUNK];
        loop {
            let got = self.stream.read(&mut buffer)?;
            if got == 0 {
                return Ok(format!("ok {}", self.received - before));
            }
            verify(seed, self.received, &buffer[..got])?;
            self.received += got as u64;
        }
    }

    /// Sends and receives at the same time.
    fn exchange(&mut self, n: u64, ours: u64, m: u64, theirs: u64) -> Answer {
        let mut out = self.stream.try_clone()?;
        let (sent, received) = (&mut self.sent, &mut self.received);
        let stream = &mut self.stream;
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || send(&mut out, sent, n, ours));
            let result = recv(stream, received, m, theirs);
            sender.join().map_err(|_| "the sender panicked")??;
            result
        })?;
        Ok(format!("ok {m}"))
    }

    /// Waits until so many bytes (at most [`CHUNK`]) have arrived, and leaves them there.
    fn wait_unread(&mut self, n: usize) -> Answer {
        let mut buffer = vec![0; CHUNK];
        loop {
            let held = self.stream.peek(&mut buffer)?;
            if held >= n {
                return Ok("ok".into());
            }
            if held == 0 {
                return Err("end 0".into());
            }
        }
    }

    fn echo(&mut self, spin: bool) -> Answer {
        let mut buffer = vec![0; CHUNK];
        self.stream.set_nodelay(true)?;
        self.stream.set_nonblocking(spin)?;
        loop {
            let got = self.read(&mut buffer)?;
            if got == 0 {
                return Ok("ok".into());
            }
            self.stream.write_all(&buffer[..got])?;
        }
    }

    /// The next bytes; a stream that does not block is asked until there are some.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }

    fn ping(&mut self, count: usize, size: usize, spin: bool) -> Answer {
        let mut buffer = vec![0; size];
        self.stream.set_nodelay(true)?;
        self.stream.set_nonblocking(spin)?;
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let begin = Instant::now();
            self.stream.write_all(&buffer)?;
            let mut got = 0;
            while got < size {
                match self.read(&mut buffer[got..])? {
                    0 => return Err("end 0".into()),
                    n => got += n,
                }
            }
            times.push(begin.elapsed().as_nanos());
        }
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(0);
        Ok(format!("ok {} {}", at(50), at(99)))
    }

    /// Sends as fast as it goes; what the bytes are does not matter.
    fn blast(&mut self, n: u64) -> Answer {
        let buffer = vec![0x5a; 4 * CHUNK];
        let mut left = n;
        while left > 0 {
            let piece = left.min(buffer.len() as u64);
            self.stream.write_all(&buffer[..piece as usize])?;
            left -= piece;
        }
        Ok("ok".into())
    }

    fn timed_recv(&mut self, n: u64) -> Answer {
        let mut buffer = vec![0; 4 * CHUNK];
        let begin = Instant::now();
        let mut left = n;
        while left > 0 {
            let got = self.stream.read(&mut buffer)? as u64;
            if got == 0 {
                return Err(format!("end {}", n - left).into());
            }
            left = left.saturating_sub(got);
        }
        Ok(format!("ok {}", begin.elapsed().as_nanos()))
    }
}

fn send(stream: &mut TcpStream, sent: &mut u64, n: u64, seed: u64) -> Result<(), LoadError> {
    let mut buffer = vec![0; CHUNK];
    let mut left = n;
    while left > 0 {
        let piece = &mut buffer[..left.min(CHUNK as u64) as usize];
        pattern::fill(seed, *sent, piece);
        stream.write_all(piece)?;
        *sent += piece.len() as u64;
        left -= piece.len() as u64;
    }
    Ok(())
}

fn recv(stream: &mut TcpStream, received: &mut u64, n: u64, seed: u64) -> Result<(), LoadError> {
    let mut buffer = vec![0; CHUNK];
    let mut left = n;
    while left > 0 {
        let got = stream.read(&mut buffer[..left.min(CHUNK as u64) as usize])?;
        if got == 0 {
            return Err(format!("end {}", n - left).into());
        }
        verify(seed, *received, &buffer[..got])?;
        *received += got as u64;
        left -= got as u64;
    }
    Ok(())
}

fn verify(seed: u64, offset: u64, got: &[u8]) -> Result<(), LoadError> {
    match pattern::mismatch(seed, offset, got) {
        None => Ok(()),
        Some(at) => Err(format!("corrupt {at}").into()),
    }
}

impl From<&str> for LoadError {
    fn from(text: &str) -> LoadError {
        LoadError(text.to_owned())
    }
}

impl From<String> for LoadError {
    fn from(text: String) -> LoadError {
        LoadError(text)
    }
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> LoadError {
        LoadError(match error.kind() {
            ErrorKind::ConnectionReset => "reset".into(),
            ErrorKind::ConnectionRefused => "refused".into(),
            ErrorKind::TimedOut => "timed_out".into(),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "unreachable".into(),
            ErrorKind::BrokenPipe | ErrorKind::NotConnected => "closed".into(),
            ErrorKind::AddrInUse => "in_use".into(),
            _ => format!("failed: {error}"),
        })
    }
}
