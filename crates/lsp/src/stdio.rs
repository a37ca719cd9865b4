// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages over standard input and output, as the base protocol frames them.
//!
//! A message that is none is answered, as JSON-RPC 2.0 §5 has it, and the conversation goes on: only what breaks the
//! frames ends it, as nobody can tell then where the next message begins.

use std::io::{self, BufRead, Read, Write, stdin, stdout};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// Those that read and write.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// A connection whose other end is standard input and output.
pub fn connect() -> (Connection, Threads) {
    let (server, outside) = Connection::memory();
    let Connection { sender, receiver } = outside;
    let writer = thread::spawn(move || receiver.into_iter().try_for_each(|m| m.write(&mut stdout().lock())));
    let reader = thread::spawn(move || {
        let mut input = stdin().lock();
        while let Some(body) = frame(&mut input)? {
            match message(&body) {
                Ok(message) => {
                    let last = matches!(&message, Message::Notification(n) if n.method == "exit");
                    if sender.send(message).is_err() || last {
                        break;
                    }
                }
                Err(Some(refusal)) => write(&mut stdout().lock(), &refusal)?,
                Err(None) => {}
            }
        }
        Ok(())
    });
    (server, Threads { reader, writer })
}

impl Threads {
    /// Waits until all is read and written.
    ///
    /// # Errors
    /// If a pipe broke, or what came was not framed.
    pub fn join(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended before its time")))?;
        }
        Ok(())
    }
}

/// The message that a body is, or the answer to what is none; no answer to an answer.
fn message(body: &[u8]) -> Result<Message, Option<Value>> {
    let refusal = |id: Value, code: ErrorCode, why: String| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i32, "message": why}});
    let value: Value = serde_json::from_slice(body)
        .map_err(|e| Some(refusal(Value::Null, ErrorCode::ParseError, format!("this is no JSON: {e}"))))?;
    let id = value.get("id").filter(|id| id.is_number() || id.is_string()).cloned().unwrap_or_default();
    let is_answer = value.get("method").is_none() && (value.get("result").or(value.get("error"))).is_some();
    serde_json::from_value(value).map_err(|_| {
        let why = "this is no request and no notification: it lacks a `method`, or its `id` is not one";
        (!is_answer).then(|| refusal(id, ErrorCode::InvalidRequest, why.into()))
    })
}

/// The bytes of the next frame; `None` at the end.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let broken = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some(header) = line.strip_suffix("\r\n") else { return Err(broken("a header without an end")) };
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or_else(|| broken("a header without a `:`"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse::<u64>().map_err(|_| broken("a length that is no number"))?);
        }
    }
    let length = length.ok_or_else(|| broken("a message without its length"))?;
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(broken("a message that is shorter than its length"));
    }
    Ok(Some(body))
}

fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::{frame, message};

    #[test]
    fn frames_end_where_they_say() {
        let mut text = &b"Content-Length: 2\r\nContent-Type: x\r\n\r\n{}content-length:1\r\n\r\n7"[..];
        assert_eq!(frame(&mut text).expect("a frame"), Some(b"{}".to_vec()));
        assert_eq!(frame(&mut text).expect("a frame"), Some(b"7".to_vec()));
        assert_eq!(frame(&mut text).expect("the end"), None);
        let broken = ["Content-Length: 9\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "\r\n{}", "{}\n", "x\r\n"];
        for mut text in broken.map(str::as_bytes) {
            assert!(frame(&mut text).is_err());
        }
    }

    #[test]
    fn what_is_no_message_is_answered_once() {
        let code = |body: &str| match message(body.as_bytes()) {
            Ok(_) => Some(0),
            Err(refusal) => refusal.map(|r| r["error"]["code"].as_i64().expect("a code")),
        };
        assert_eq!(code(r#"{"id": 1, "method": "shutdown"}"#), Some(0));
        assert_eq!(code("{ this is no JSON"), Some(-32700));
        assert_eq!(code("\u{7f}"), Some(-32700));
        assert_eq!(code("[1, 2]"), Some(-32600));
        assert_eq!(
            code(r#"{"id": {}, "method": "shutdown"}"#),
            Some(0),
            "a notification with something more"
        );
        assert_eq!(code(r#"{"id": 1}"#), Some(-32600));
        assert_eq!(code(r#"{"id": null, "error": {"code": -32700, "message": ""}}"#), None);
        let refused = message(br#"{"id": "a", "params": 3}"#).expect_err("no method").expect("an answer");
        assert_eq!(refused["id"], "a");
    }
}
