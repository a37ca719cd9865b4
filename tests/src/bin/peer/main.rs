// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's stream sockets, driven a line at a time: the other side of the interop tests and benchmarks.
//!
//! Each line of standard input is a command; each is answered with one line, `ok`, `ok VALUE` or what went wrong
//! (`reset`, `refused`, `timed_out`, `unreachable`, `closed`, `end COUNT`, `corrupt AT`).
//!
//! ```text
//! listen PORT [BACKLOG]     connect IP PORT      accept            use N (connections are numbered from 0)
//! send N SEED               recv N SEED          finish SEED (receive to the end; answers the count)
//! exchange N SEED M SEED    shutdown             close             abort             unlisten
//! option rcvbuf|sndbuf|mss|nodelay|user_timeout N (for what is opened next; milliseconds)
//! nodelay (for this one)
//! echo                      ping COUNT SIZE (answers nanoseconds: median, 99th percentile; both with `spin` behind it, too)
//! blast N (sends as fast as it goes)      timed_recv N (answers nanoseconds)
//! serve (echoes over any number of connections, and answers nothing any more)
//! load IP PORT CONNECTIONS ATONCE OCTETS MESSAGES COUNT (answers nanoseconds: all, median, 99th percentile)
//! udp_echo PORT             udp_ping IP PORT COUNT SIZE (both with `spin` behind it: without waiting in the kernel)
//! wait_unread N (waits for so many, leaves them there)
//! ```

use std::io::{self, BufRead, Write};

mod connection;
mod load;
mod socket;

use connection::{Answer, Connection};
use load::Load;
use socket::{Listener, Options};

#[derive(Default)]
struct Peer {
    options: Options,
    listener: Option<Listener>,
    connections: Vec<Option<Connection>>,
    current: usize,
}

impl Peer {
    fn obey(&mut self, line: &str) -> Answer {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["listen", port] => self.listen(port, "128"),
            ["listen", port, backlog] => self.listen(port, backlog),
            ["unlisten"] => {
                self.listener = None;
                Ok("ok".into())
            }
            ["accept"] => {
                let stream = self.listener.as_ref().ok_or("not listening")?.accept()?;
                Ok(self.keep(Connection::new(stream)))
            }
            ["connect", ip, port] => {
                let stream = self.options.connect(ip, number(port)?)?;
                Ok(self.keep(Connection::new(stream)))
            }
            ["serve"] => load::serve(self.listener.as_ref().ok_or("not listening")?),
            ["load", ip, port, connections, at_once, octets, messages, count] => Load {
                at: (ip.to_owned(), number(port)?),
                connections: number(connections)?,
                at_once: number(at_once)?,
                octets: number(octets)?,
                messages: number(messages)?,
                count: number(count)?,
            }
            .run(),
            ["udp_echo", port, ref spin @ ..] => load::udp_echo(number(port)?, spin == ["spin"]),
            ["udp_ping", ip, port, count, size, ref spin @ ..] => {
                load::udp_ping((ip, number(port)?), number(count)?, number(size)?, spin == ["spin"])
            }
            ["use", n] => {
                self.current = number(n)?;
                Ok("ok".into())
            }
            ["option", name, value] => {
                self.options.set(name, number(value)?)?;
                Ok("ok".into())
            }
            ["close"] => {
                *self.slot()? = None;
                Ok("ok".into())
            }
            ["abort"] => {
                let slot = self.slot()?;
                slot.take().ok_or("closed")?.abort()
            }
            ref rest => self.slot()?.as_mut().ok_or("closed")?.obey(rest),
        }
    }

    fn listen(&mut self, port: &str, backlog: &str) -> Answer {
        self.listener = Some(self.options.listen(number(port)?, number(backlog)?)?);
        Ok("ok".into())
    }

    fn keep(&mut self, connection: Connection) -> String {
        self.connections.push(Some(connection));
        self.current = self.connections.len() - 1;
        "ok".into()
    }

    fn slot(&mut self) -> Result<&mut Option<Connection>, connection::LoadError> {
        Ok(self.connections.get_mut(self.current).ok_or("no such connection")?)
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, connection::LoadError> {
    word.parse().map_err(|_| format!("`{word}` is not a number").into())
}

fn main() {
    let mut peer = Peer::default();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let answer = peer.obey(&line).unwrap_or_else(|refusal| refusal.0);
        if writeln!(io::stdout().lock(), "{answer}").is_err() {
            break;
        }
    }
}
