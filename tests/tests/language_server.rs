// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick lsp`, the process, in a recorded conversation.
//!
//! `tests/lsp/*.jsonl` has one message a line, `{"editor": ...}` or `{"server": ...}`. The editor's are sent; what the server
//! says is compared with the record. `CARRICK_RECORD=1 cargo test -p carrick-tests --test language_server` writes the
//! server's half anew: read the difference before you keep it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use carrick_tests::build::{carrick, root};
use carrick_tests::recorded;
use serde_json::{Value, json};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
}

impl Server {
    fn start() -> Server {
        let mut process = Command::new(carrick())
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("carrick runs");
        let (sender, messages) = channel();
        let mut output = BufReader::new(process.stdout.take().expect("stdout is piped"));
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let stdin = process.stdin.take();
        Server { process, stdin, messages }
    }

    /// Sends these bytes as the body of a message.
    fn send(&mut self, body: &str) {
        let stdin = self.stdin.as_mut().expect("not closed yet");
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Tells it something that is not answered.
    fn note(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The codes of the diagnostics that come next for this document.
    fn codes(&self, uri: &str) -> Vec<String> {
        loop {
            let message = self.next();
            if message["params"]["uri"] == uri {
                let found = message["params"]["diagnostics"].as_array().expect("a list");
                return found.iter().filter_map(|d| d["code"].as_str().map(str::to_owned)).collect();
            }
        }
    }

    /// Waits for its end.
    fn code(mut self) -> Option<i32> {
        self.stdin = None;
        self.process.wait().expect("it ends").code()
    }
}

/// A message, as the base protocol frames it; `None` at the end.
fn read(output: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", octets)) => length = octets.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Whether the server says something to this message of the editor, so that one must wait for it.
fn is_answered(message: &Value) -> bool {
    let method = message["method"].as_str().unwrap_or_default();
    message.get("id").is_some()
        || ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"].contains(&method)
}

fn conversations() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("tests/lsp")).expect("tests/lsp/").flatten();
    let mut found: Vec<PathBuf> = folder.map(|f| f.path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "jsonl"));
    found.sort();
    found
}

/// Plays the editor's half; both halves as they went.
fn play(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut server = Server::start();
    let mut went = Vec::new();
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).expect("a line of JSON");
        let Some(said) = message.get("editor") else { continue };
        server.send(&said.to_string());
        went.push(json!({"editor": said}));
        if is_answered(said) {
            went.push(json!({"server": without_texts(server.next(), said)}));
        }
    }
    assert_eq!(server.code(), Some(0), "{}", path.display());
    went
}

/// The server's version and the text of a diagnostic's page do not belong to the record. The page must be that of the code
/// that the editor asked for.
fn without_texts(mut message: Value, asked: &Value) -> Value {
    if let Some(info) = message.pointer_mut("/result/serverInfo") {
        info["version"] = json!("any");
    }
    if let Some(page) = message.pointer_mut("/result/page") {
        let code = asked["params"]["code"].as_str().expect("a code was asked for");
        let file = format!("docs/errors/{code}.md");
        let text = std::fs::read_to_string(root().join(&file)).expect("each code has a page");
        assert_eq!(*page, text, "{file}");
        *page = json!(file);
    }
    message
}

#[test]
fn recorded_conversations_go_as_they_did() {
    let all = conversations();
    assert!(!all.is_empty(), "there is nothing in tests/lsp/");
    for path in all {
        let went: Vec<String> = play(&path).iter().map(Value::to_string).collect();
        recorded::file(&path, &(went.join("\n") + "\n"));
    }
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn started() -> Server {
    let mut server = Server::start();
    server.send(&request(0, "initialize", json!({"capabilities": {}})));
    assert!(server.next()["result"]["capabilities"]["hoverProvider"].as_bool().unwrap_or_default());
    server.send(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    server
}

#[test]
fn what_cannot_be_answered_is_refused_with_a_reason() {
    let mut server = started();
    let place =
        json!({"textDocument": {"uri": "file:///nowhere.mtp"}, "position": {"line": 0, "character": 0}});
    let cases = [
        ("textDocument/hover", place, "nowhere.mtp"),
        ("textDocument/hover", json!({"textDocument": 7}), "textDocument"),
        ("textDocument/hover", json!({}), "textDocument"),
        ("textDocument/fly", json!({}), "textDocument/fly"),
        ("carrick/explain", json!({"code": "MTP9999"}), "MTP9999"),
    ];
    for (id, (method, params, word)) in (1..).zip(cases) {
        server.send(&request(id, method, params));
        let answer = server.next();
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["message"].as_str().unwrap_or_default().contains(word), "{answer}");
    }
    // What notes something wrong is not answered, and harms nobody.
    server.send(r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":3}}"#);
    server.send(r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{}}"#);
    server.send(&request(9, "shutdown", Value::Null));
    assert_eq!(server.next()["id"], 9);
    server.send(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(server.code(), Some(0));
}

#[test]
fn an_editor_that_dies_takes_the_server_with_it() {
    assert_ne!(started().code(), Some(0));
    let mut server = Server::start();
    let stdin = server.stdin.as_mut().expect("not closed yet");
    stdin.write_all(b"this is no frame\r\n\r\n").expect("the server reads");
    assert_ne!(server.code(), Some(0));
}

#[test]
fn a_message_that_is_none_is_refused_and_the_next_one_answered() {
    let mut server = Server::start();
    server.send("{ this is no JSON");
    let refusal = server.next();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32700)), "{refusal}");
    server.send(r#"{"jsonrpc":"2.0","id":3,"params":{}}"#);
    let refusal = server.next();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(3), &json!(-32600)), "{refusal}");
    server.send(&request(4, "initialize", json!({"capabilities": {}})));
    assert_eq!(server.next()["id"], 4);
    server.send(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    server.send(&request(5, "shutdown", Value::Null));
    assert_eq!(server.next()["id"], 5);
    server.send(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(server.code(), Some(0));
}

/// Two files, of which one imports the other, in a folder whose name a URI cannot have as it is.
#[test]
fn what_is_imported_is_known_where_it_is_used() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("lsp é");
    std::fs::create_dir_all(folder.join("parts")).expect("writable");
    for file in ["globals.mtp", "parts/packets.mtp", "parts/claims.mtp"] {
        std::fs::copy(root().join("tests/programs").join(file), folder.join(file)).expect("it is there");
    }
    let uri = |file: &str| {
        let path = folder.join(file).display().to_string();
        format!("file://{}", path.replace(' ', "%20").replace('é', "%C3%A9"))
    };
    let (main, part) = (uri("globals.mtp"), uri("parts/packets.mtp"));
    let text = std::fs::read_to_string(folder.join("globals.mtp")).expect("readable");
    let document = json!({"uri": main, "languageId": "mtp", "version": 1, "text": text});
    let mut server = started();
    let open =
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}});
    server.send(&open.to_string());
    assert_eq!(server.next()["params"]["diagnostics"], json!([]));
    let line = text.lines().position(|l| l.contains("key(")).expect("it is used");
    let character = text.lines().nth(line).and_then(|l| l.find("key(")).expect("it is there");
    let place = json!({"textDocument": {"uri": main}, "position": {"line": line, "character": character}});
    let mut ask = |id: u32, method: &str, more: Value| {
        let mut params = place.clone();
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        server.send(&request(id, method, params));
        server.next()
    };
    assert_eq!(ask(1, "textDocument/definition", json!({}))["result"]["uri"], part);
    let hover = ask(2, "textDocument/hover", json!({}));
    assert!(hover["result"]["contents"]["value"].as_str().unwrap_or_default().contains("id key("), "{hover}");
    let uses = ask(3, "textDocument/references", json!({"context": {"includeDeclaration": true}}));
    let files: Vec<&str> =
        uses["result"].as_array().expect("places").iter().filter_map(|u| u["uri"].as_str()).collect();
    assert!(files.contains(&main.as_str()) && files.contains(&part.as_str()), "{uses}");
    let refused = ask(4, "textDocument/rename", json!({"newName": "peer"}));
    assert!(refused["error"]["message"].as_str().unwrap_or_default().contains("packets.mtp"), "{refused}");
}

/// What an editor shows of an imported file counts, saved or not; when it is closed, what is on disk.
#[test]
fn an_import_is_read_as_the_editor_shows_it() {
    let temporary = tempfile::tempdir().expect("a folder");
    let least = std::fs::read_to_string(root().join("tests/programs/least.mtp")).expect("it is there");
    let main_text = format!("{least}import \"answers.mtp\";\nparam uint32 first = FIRST in 1..9;\n")
        .replace("answer.n = c.count;", "answer.n = c.count + first;");
    let uri = |file: &str| format!("file://{}", temporary.path().join(file).display());
    let mut server = started();
    let open = |file: &str, text: &str| json!({"textDocument": {"uri": uri(file), "languageId": "mtp", "version": 1, "text": text}});
    server.note("textDocument/didOpen", open("main.mtp", &main_text));
    assert_eq!(server.codes(&uri("main.mtp")), ["MTP0500"], "there is no such file");
    server.note("textDocument/didOpen", open("answers.mtp", "const uint32 FIRST = 3;\n"));
    assert_eq!(server.codes(&uri("main.mtp")), [""; 0], "the editor has it");
    let renamed = json!({"textDocument": {"uri": uri("answers.mtp"), "version": 2},
        "contentChanges": [{"text": "const uint32 SECOND = 3;\n"}]});
    server.note("textDocument/didChange", renamed);
    assert!(server.codes(&uri("main.mtp")).contains(&"MTP0200".to_owned()), "it has no FIRST any more");
    server.note("textDocument/didClose", json!({"textDocument": {"uri": uri("answers.mtp")}}));
    assert_eq!(server.codes(&uri("main.mtp")), ["MTP0500"], "it was never saved");
}

/// A part that is opened alone is checked as a part of its program, with its own features.
#[test]
fn a_part_is_checked_with_its_program() {
    let temporary = tempfile::tempdir().expect("a folder");
    let least = std::fs::read_to_string(root().join("tests/programs/least.mtp")).expect("it is there");
    let main = format!("{least}import \"parts/more.mtp\";\nfeature counts(plain, double) default;\n");
    std::fs::create_dir(temporary.path().join("parts")).expect("writable");
    std::fs::write(temporary.path().join("main.mtp"), main).expect("writable");
    let part = "feature counts = double { const uint32 TWICE = 2; }\n";
    let path = temporary.path().join("parts/more.mtp");
    std::fs::write(&path, part).expect("writable");
    let uri = format!("file://{}", path.display());
    let mut server = started();
    let open = json!({"textDocument": {"uri": uri, "languageId": "mtp", "version": 1, "text": part}});
    server.note("textDocument/didOpen", open);
    assert_eq!(server.codes(&uri), ["MTP0262"], "only that its constant is unused");
    let changed = json!({"textDocument": {"uri": uri, "version": 2},
        "contentChanges": [{"text": "feature counts = double { const uint32 TWICE = true; }\n"}]});
    server.note("textDocument/didChange", changed);
    assert_eq!(server.codes(&uri), ["MTP0203"], "its own error");
}

/// A file that adds an option to a feature of the program that it imports is checked with it, and with what it requires.
#[test]
fn an_option_from_outside_is_checked() {
    let temporary = tempfile::tempdir().expect("a folder");
    let least = std::fs::read_to_string(root().join("tests/programs/least.mtp")).expect("it is there");
    let main =
        format!("{least}feature counts(plain, double) default;\nfeature big {{ const uint32 BIG = 9; }}\n");
    std::fs::write(temporary.path().join("main.mtp"), main).expect("writable");
    let text = "import \"main.mtp\";\nfeature counts = thrice { requires big; require BIG < 1; }\n";
    let path = temporary.path().join("mine.mtp");
    std::fs::write(&path, text).expect("writable");
    let uri = format!("file://{}", path.display());
    let mut server = started();
    let open = json!({"textDocument": {"uri": uri, "languageId": "mtp", "version": 1, "text": text}});
    server.note("textDocument/didOpen", open);
    assert_eq!(server.codes(&uri), ["MTP0481"], "its own mistake");
}

/// Declarations are found in all files of the editor's folders; what is open counts as the editor shows it.
#[test]
fn declarations_are_found_in_files_that_are_not_open() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    std::fs::create_dir_all(folder.join("parts")).expect("writable");
    std::fs::create_dir_all(folder.join("target")).expect("writable");
    std::fs::write(folder.join("parts/one.mtp"), "const uint32 FIRST_PORT = 1;\n").expect("writable");
    std::fs::write(folder.join("two.mtp"), "const uint32 OLD_PORT = 1;\n").expect("writable");
    std::fs::write(folder.join("target/three.mtp"), "const uint32 BUILT_PORT = 1;\n").expect("writable");
    let uri = |file: &str| format!("file://{}", folder.join(file).display());
    let mut server = Server::start();
    let folders = json!([{"uri": format!("file://{}", folder.display()), "name": "mine"}]);
    server.send(&request(0, "initialize", json!({"capabilities": {}, "workspaceFolders": folders})));
    assert_eq!(server.next()["result"]["capabilities"]["workspaceSymbolProvider"], true);
    server.note("initialized", json!({}));
    let shown = "const uint32 NEW_PORT = 1;\n";
    let open =
        json!({"textDocument": {"uri": uri("two.mtp"), "languageId": "mtp", "version": 1, "text": shown}});
    server.note("textDocument/didOpen", open);
    server.codes(&uri("two.mtp"));
    server.send(&request(1, "workspace/symbol", json!({"query": "port"})));
    let answer = server.next();
    let found = answer["result"].as_array().expect("a list");
    let found: Vec<_> = found.iter().map(|s| (&s["name"], &s["location"]["uri"])).collect();
    let expected = [("NEW_PORT", uri("two.mtp")), ("FIRST_PORT", uri("parts/one.mtp"))];
    assert_eq!(found.len(), expected.len(), "{answer}");
    for ((name, at), (expected, file)) in found.into_iter().zip(&expected) {
        assert_eq!((name, at), (&json!(expected), &json!(file)));
    }
}
