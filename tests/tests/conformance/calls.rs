// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of sockets, as far as scripts make them, on the calls of the program.

use std::collections::BTreeMap;

use carrick_interp::Data;

use crate::stack::Stack;

/// What a call returned: its value, and its error.
pub type Returned = (i64, Option<&'static str>);

/// Why a line is not played.
pub enum Not {
    /// it changes nothing, and is left out
    Needed,
    /// nor can the rest of the script be
    Supported(String),
    /// the stack did something impossible
    Possible(String),
}

impl From<String> for Not {
    fn from(what: String) -> Not {
        Not::Possible(what)
    }
}

#[derive(Default)]
enum State {
    #[default]
    New,
    Listening(u64),
    /// the request is open
    Connecting(u64),
    Connected(u64),
    /// it never was connected, for this reason
    Failed(&'static str),
}

#[derive(Default)]
struct Socket {
    state: State,
    /// closing resets the connection
    resets: bool,
    nodelay: bool,
    /// bytes that were received for it and not read
    held: u64,
    /// the open request to receive
    receiving: Option<u64>,
    /// how receiving ended
    ended: Option<&'static str>,
    /// the open request that learns how the connection ended
    draining: Option<u64>,
    /// the connection's error was read
    reported: bool,
}

#[derive(Default)]
pub struct Sockets {
    by_fd: BTreeMap<i64, Socket>,
    connects: u16,
}

/// Options that change nothing that scripts see, or what the program's parameters say.
const IGNORED: [&str; 5] = ["SO_REUSEADDR", "SO_REUSEPORT", "SO_TIMESTAMPING", "IPV6_V6ONLY", "SO_SNDBUF"];

/// Calls on a socket.
const CALLS: [&str; 18] = [
    "accept",
    "accept4",
    "bind",
    "close",
    "connect",
    "fcntl",
    "getpeername",
    "getsockname",
    "getsockopt",
    "listen",
    "read",
    "recv",
    "recvfrom",
    "send",
    "sendto",
    "setsockopt",
    "shutdown",
    "write",
];

impl Sockets {
    /// Makes a call.
    pub fn call(
        &mut self,
        stack: &mut Stack,
        name: &str,
        args: &[String],
        returns: i64,
    ) -> Result<Returned, Not> {
        let number = |at: usize| args.get(at).and_then(|a| a.parse::<i64>().ok());
        let unsupported = || Not::Supported(format!("`{name}({})`", args.join(", ")));
        if name == "socket" {
            let stream = args.iter().any(|a| a == "SOCK_STREAM");
            let fd = if stream { returns } else { return Err(unsupported()) };
            self.by_fd.insert(fd, Socket::default());
            return Ok((fd, None));
        }
        if !CALLS.contains(&name) {
            return Err(unsupported());
        }
        let fd = number(0).ok_or_else(unsupported)?;
        if name == "getsockopt" && args.get(2).is_some_and(|option| option == "SO_ERROR") {
            let Some(socket) = self.by_fd.get_mut(&fd) else { return Ok((-1, Some("EBADF"))) };
            return socket.check_error(stack, args.get(3).ok_or_else(unsupported)?);
        }
        if matches!(name, "getsockopt" | "fcntl" | "getsockname" | "getpeername") {
            return Err(Not::Needed);
        }
        if name == "accept" || name == "accept4" {
            return self.accept(stack, fd, returns);
        }
        let connects = &mut self.connects;
        let Some(socket) = self.by_fd.get_mut(&fd) else { return Ok((-1, Some("EBADF"))) };
        let len = || number(2).and_then(|n| u64::try_from(n).ok()).ok_or_else(unsupported);
        let flags = args.get(3).map_or("0", String::as_str);
        match name {
            "bind" => Ok((0, None)),
            "listen" => socket.listen(stack, number(1).unwrap_or(1)),
            "connect" => socket.connect(stack, connects),
            "setsockopt" => socket.set(stack, args).ok_or_else(unsupported),
            "read" => socket.receive(stack, len()?, false),
            "recv" | "recvfrom" if matches!(flags, "0" | "MSG_DONTWAIT" | "MSG_PEEK") => {
                socket.receive(stack, len()?, flags == "MSG_PEEK")
            }
            "write" => socket.send(stack, len()?),
            "send" | "sendto" if matches!(flags, "0" | "MSG_DONTWAIT" | "MSG_NOSIGNAL") => {
                socket.send(stack, len()?)
            }
            "shutdown" if args.get(1).is_some_and(|how| how != "SHUT_RD") => {
                socket.shutdown(stack, args[1] == "SHUT_RDWR")
            }
            "close" => {
                let socket = self.by_fd.remove(&fd).unwrap_or_default();
                socket.close(stack)
            }
            _ => Err(unsupported()),
        }
    }

    /// An item of `info` of the connection that was made last, if it is established.
    pub fn info(&mut self, stack: &mut Stack, item: u64) -> Result<Option<u64>, Not> {
        let Some(socket) = self.by_fd.values_mut().next_back() else { return Ok(None) };
        socket.look(stack);
        let State::Connected(handle) = socket.state else { return Ok(None) };
        let token = stack.call("info", handle, item, Data::None)?;
        Ok(stack.ended(token).map(|(_, value)| value))
    }

    fn accept(&mut self, stack: &mut Stack, fd: i64, returns: i64) -> Result<Returned, Not> {
        let Some(Socket { state: State::Listening(listener), nodelay, .. }) = self.by_fd.get(&fd) else {
            return Ok((-1, Some("EINVAL")));
        };
        let nodelay = *nodelay;
        let token = stack.call("accept", *listener, 0, Data::None)?;
        match stack.ended(token) {
            Some(("OK", handle)) => {
                let mut socket = Socket { state: State::Connected(handle), ..Socket::default() };
                if nodelay {
                    let _ = socket.set_nodelay(stack);
                }
                self.by_fd.insert(returns, socket);
                Ok((returns, None))
            }
            // The request stays open, and would take the next connection.
            None => Err(Not::Supported("an `accept` that finds nothing".to_owned())),
            Some((status, _)) => Ok((-1, Some(error(status)))),
        }
    }
}

/// The error that a program sees for a status.
fn error(status: &str) -> &'static str {
    match status {
        "REFUSED" => "ECONNREFUSED",
        "RESET" => "ECONNRESET",
        "TIMED_OUT" => "ETIMEDOUT",
        "UNREACHABLE" => "EHOSTUNREACH",
        "CLOSED" => "EPIPE",
        "NO_ROOM" => "ENOBUFS",
        "IN_USE" => "EADDRINUSE",
        "INVALID" => "EINVAL",
        "ABORTED" => "ECONNABORTED",
        _ => "EIO",
    }
}

impl Socket {
    fn listen(&mut self, stack: &mut Stack, backlog: i64) -> Result<Returned, Not> {
        let token = stack.call("listen", 0, u64::try_from(backlog).unwrap_or(1), Data::None)?;
        let Some(("OK", handle)) = stack.ended(token) else { return Ok((-1, Some("EADDRINUSE"))) };
        self.state = State::Listening(handle);
        Ok((0, None))
    }

    fn connect(&mut self, stack: &mut Stack, connects: &mut u16) -> Result<Returned, Not> {
        self.look(stack);
        match self.state {
            State::New => {
                *connects += 1;
                stack.peer += u16::from(*connects > 1);
                self.state = State::Connecting(stack.call("connect", 0, 0, Data::None)?);
                Ok((-1, Some("EINPROGRESS")))
            }
            State::Connecting(_) => Ok((-1, Some("EALREADY"))),
            State::Connected(_) => Ok((-1, Some("EISCONN"))),
            State::Failed(why) => Ok((-1, Some(error(why)))),
            State::Listening(_) => Ok((-1, Some("EOPNOTSUPP"))),
        }
    }

    /// Whether the connection is established by now.
    fn look(&mut self, stack: &mut Stack) {
        let State::Connecting(token) = self.state else { return };
        match stack.ended(token) {
            Some(("OK", handle)) => {
                self.state = State::Connected(handle);
                if self.nodelay {
                    let _ = self.set_nodelay(stack);
                }
            }
            Some((status, _)) => self.state = State::Failed(status),
            None => {}
        }
    }

    /// `None`: the option is not supported.
    fn set(&mut self, stack: &mut Stack, args: &[String]) -> Option<Returned> {
        let on = !matches!(args.get(3)?.as_str(), "[0]" | "0");
        match args.get(2)?.as_str() {
            name if IGNORED.contains(&name) => {}
            "TCP_NODELAY" => {
                self.nodelay = on;
                self.look(stack);
                if matches!(self.state, State::Connected(_)) {
                    self.set_nodelay(stack).ok()?;
                }
            }
            "TCP_USER_TIMEOUT" => {
                self.look(stack);
                let State::Connected(handle) = self.state else { return None };
                let milliseconds = args[3].trim_matches(['[', ']']).parse().ok()?;
                stack.call("set_user_timeout", handle, milliseconds, Data::None).ok()?;
            }
            "SO_LINGER" => {
                let words = args[3].replace(['{', '}', '[', ']', '='], " ");
                let times: Vec<u32> = words.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
                self.resets = times == [1, 0];
                if !self.resets && times.first() != Some(&0) {
                    return None;
                }
            }
            _ => return None,
        }
        Some((0, None))
    }

    /// Compares the pending error of the socket, which reading clears, with `[ECONNRESET]` or `[0]`.
    fn check_error(&mut self, stack: &mut Stack, wanted: &str) -> Result<Returned, Not> {
        let found = self.error(stack)?.filter(|_| !self.reported);
        self.reported |= found.is_some();
        let (found, wanted) = (found.unwrap_or("0"), wanted.trim_matches(['[', ']']));
        if found == wanted {
            Ok((0, None))
        } else {
            Err(Not::Possible(format!("SO_ERROR is {found}, not {wanted}")))
        }
    }

    fn error(&mut self, stack: &mut Stack) -> Result<Option<&'static str>, Not> {
        self.look(stack);
        let handle = match self.state {
            State::Failed(why) => return Ok(Some(error(why))),
            State::Connected(handle) => handle,
            State::New | State::Listening(_) | State::Connecting(_) => return Ok(None),
        };
        let token = match self.draining {
            Some(token) => token,
            None => stack.call("drain", handle, 0, Data::None)?,
        };
        let how = stack.ended(token);
        self.draining = if how.is_some() { None } else { Some(token) };
        Ok(how.filter(|(status, _)| *status != "OK").map(|(status, _)| error(status)))
    }

    fn set_nodelay(&mut self, stack: &mut Stack) -> Result<(), String> {
        let State::Connected(handle) = self.state else { return Ok(()) };
        let token = stack.call("set_nodelay", handle, u64::from(self.nodelay), Data::None)?;
        stack.ended(token);
        Ok(())
    }

    /// The connection's handle, or what a call on it returns without one.
    fn handle(&mut self, stack: &mut Stack) -> Result<u64, Returned> {
        self.look(stack);
        match self.state {
            State::Connected(handle) => Ok(handle),
            State::Failed(why) => Err((-1, Some(error(why)))),
            State::Connecting(_) => Err((-1, Some("EAGAIN"))),
            _ => Err((-1, Some("ENOTCONN"))),
        }
    }

    fn receive(&mut self, stack: &mut Stack, most: u64, peek: bool) -> Result<Returned, Not> {
        let handle = match self.handle(stack) {
            Ok(handle) => handle,
            Err(returned) => return Ok(returned),
        };
        while self.held < most && self.ended.is_none() {
            let token = match self.receiving.take() {
                Some(token) => token,
                None => stack.call("recv", handle, most - self.held, Data::Recv(most - self.held))?,
            };
            match stack.ended(token) {
                Some(("OK", bytes)) => self.held += bytes,
                Some((status, _)) => self.ended = Some(status),
                None => {
                    self.receiving = Some(token);
                    break;
                }
            }
        }
        let taken = self.held.min(most);
        self.held -= if peek { 0 } else { taken };
        Ok(match self.ended {
            _ if taken > 0 => (taken as i64, None),
            Some("END_OF_STREAM" | "CLOSED") => (0, None),
            Some(status) => (-1, Some(error(status))),
            None => (-1, Some("EAGAIN")),
        })
    }

    fn send(&mut self, stack: &mut Stack, len: u64) -> Result<Returned, Not> {
        let handle = match self.handle(stack) {
            Ok(handle) => handle,
            Err(returned) => return Ok(returned),
        };
        let (bytes, mut taken) = (vec![0; len as usize], 0);
        while taken < len {
            let token = stack.call("send", handle, len - taken, Data::Send(&bytes[taken as usize..]))?;
            match stack.ended(token) {
                Some(("OK", more)) => taken += more,
                Some((status, _)) if taken == 0 => return Ok((-1, Some(error(status)))),
                Some(_) => break,
                None => return Err(Not::Supported("a `write` beyond the send buffer".to_owned())),
            }
        }
        Ok((taken as i64, None))
    }

    fn shutdown(&mut self, stack: &mut Stack, both: bool) -> Result<Returned, Not> {
        let handle = match self.handle(stack) {
            Ok(handle) => handle,
            Err(returned) => return Ok(returned),
        };
        if both {
            self.ended = Some("END_OF_STREAM");
        }
        let token = stack.call("shutdown", handle, 0, Data::None)?;
        Ok(match stack.ended(token) {
            Some(("OK", _)) => (0, None),
            _ => (-1, Some("ENOTCONN")),
        })
    }

    fn close(mut self, stack: &mut Stack) -> Result<Returned, Not> {
        self.look(stack);
        let (name, handle, number) = match self.state {
            State::Listening(handle) => ("unlisten", handle, 0),
            State::Connected(handle) if self.resets => ("abort", handle, 0),
            State::Connected(handle) => ("close", handle, 0),
            State::Connecting(token) => ("cancel_connect", 0, token),
            State::New | State::Failed(_) => return Ok((0, None)),
        };
        stack.call(name, handle, number, Data::None)?;
        Ok((0, None))
    }
}
