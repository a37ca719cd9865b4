// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conversation: its beginning, its end, and the texts in between.

use std::collections::BTreeMap;
use std::error::Error;

use carrick_driver::Choice;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _, PublishDiagnostics};
use lsp_types::request::{self, Request as _};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Uri};
use serde_json::{Value, json};

use crate::document::Document;
use crate::requests::Asked;
use crate::texts::Texts;
use crate::{diagnostics, paths, semantic, stdio};

/// How a conversation ended, as the exit code has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// the editor said so
    Properly,
    /// the editor is gone without a word, or did not shut the server down before
    Abruptly,
}

/// Serves one editor on standard input and output until it is done.
///
/// # Errors
/// If the editor does not keep to the protocol, or the pipe breaks.
pub fn serve_stdio() -> Result<Ended, Box<dyn Error + Sync + Send>> {
    let (connection, threads) = stdio::connect();
    let ended = serve(&connection)?;
    drop(connection);
    threads.join()?;
    Ok(ended)
}

/// Serves one editor until it is done.
///
/// # Errors
/// If the editor does not keep to the protocol, or the pipe breaks.
pub fn serve(connection: &Connection) -> Result<Ended, Box<dyn Error + Sync + Send>> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let info = json!({"name": "carrick", "version": env!("CARGO_PKG_VERSION")});
    let begun = json!({"capabilities": capabilities(), "serverInfo": info});
    connection.sender.send(Message::Response(Response::new_ok(id, begun)))?;
    let mut server = Server {
        connection,
        documents: BTreeMap::new(),
        texts: Texts::default(),
        folders: folders(&params),
        pages: option(&params, "errorPages").map(str::to_owned),
        features: features(&params),
    };
    server.converse()
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2},
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "completionProvider": {"triggerCharacters": ["."]},
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "semanticTokensProvider": {"legend": semantic::legend(), "full": true},
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "documentFormattingProvider": true,
    })
}

/// Returns the folders that the editor shows.
fn folders(params: &InitializeParams) -> Vec<String> {
    let folders = params.workspace_folders.iter().flatten();
    folders.map(|folder| paths::path(&folder.uri)).collect()
}

/// Returns an option of the editor: `errorPages`, a prefix that makes a URI of `MTP0123.md`, `with` or `without`.
fn option<'a>(params: &'a InitializeParams, name: &str) -> Option<&'a str> {
    params.initialization_options.as_ref()?.get(name)?.as_str()
}

/// Returns the features that the editor chose, as on the command line: `cubic,sack`.
fn features(params: &InitializeParams) -> Choice {
    let names = |name: &str| {
        option(params, name).into_iter().flat_map(|list| list.split(',')).filter(|f| !f.is_empty())
    };
    let mut choice = Choice { without: names("without").map(str::to_owned).collect(), ..Choice::default() };
    names("with").for_each(|feature| choice.add(feature));
    choice
}

struct Server<'a> {
    connection: &'a Connection,
    documents: BTreeMap<Uri, Document>,
    /// of all open documents, for those that import them
    texts: Texts,
    folders: Vec<String>,
    pages: Option<String>,
    /// with which programs are checked
    features: Choice,
}

type Sent = Result<(), Box<dyn Error + Sync + Send>>;

impl Server<'_> {
    /// Answers until the editor says that it is done. After `shutdown` nothing is answered but that the server is shut down, and
    /// `exit` ends it: properly only then (Language Server Protocol 3.17, "Shutdown Request" and "Exit Notification").
    fn converse(&mut self) -> Result<Ended, Box<dyn Error + Sync + Send>> {
        let mut shut_down = false;
        while let Some(message) = self.next_message()? {
            match message {
                Message::Request(request) if shut_down => {
                    self.refuse(request.id, "the server is shut down")?
                }
                Message::Request(request) if request.method == request::Initialize::METHOD => {
                    self.refuse(request.id, "the server has been initialized already")?;
                }
                Message::Request(request) if request.method == request::Shutdown::METHOD => {
                    shut_down = true;
                    self.connection.sender.send(Message::Response(Response::new_ok(request.id, ())))?;
                }
                Message::Request(request) => self.answer(request)?,
                Message::Notification(note) if note.method == notification::Exit::METHOD => {
                    return Ok(if shut_down { Ended::Properly } else { Ended::Abruptly });
                }
                Message::Notification(_) if shut_down => {}
                Message::Notification(note) => self.note(note),
                Message::Response(_) => {} // nothing is asked of the editor
            }
        }
        Ok(Ended::Abruptly)
    }

    fn refuse(&self, id: RequestId, why: &str) -> Sent {
        let refusal = Response::new_err(id, ErrorCode::InvalidRequest as i32, why.to_owned());
        self.connection.sender.send(Message::Response(refusal))?;
        Ok(())
    }

    /// The next message; before it waits for one it tells what is wrong with the texts that changed.
    fn next_message(&mut self) -> Result<Option<Message>, Box<dyn Error + Sync + Send>> {
        if let Ok(message) = self.connection.receiver.try_recv() {
            return Ok(Some(message));
        }
        self.publish()?;
        Ok(self.connection.receiver.recv().ok())
    }

    fn publish(&mut self) -> Sent {
        for (uri, document) in self.documents.iter_mut().filter(|(_, d)| !d.published) {
            let shown = diagnostics::shown(document, uri, self.pages.as_deref());
            document.published = true;
            let params = PublishDiagnosticsParams::new(uri.clone(), shown, Some(document.version));
            let note = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
            self.connection.sender.send(Message::Notification(note))?;
        }
        Ok(())
    }

    fn note(&mut self, note: Notification) {
        match note.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(opened) = noted::<notification::DidOpenTextDocument>(note) {
                    let it = opened.text_document;
                    let document =
                        Document::new(paths::path(&it.uri), it.version, it.text, &self.texts, &self.features);
                    self.documents.insert(it.uri.clone(), document);
                    self.text_changed(&it.uri);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(changed) = noted::<notification::DidChangeTextDocument>(note)
                    && let Some(document) = self.documents.get_mut(&changed.text_document.uri)
                {
                    document.change(changed.text_document.version, changed.content_changes);
                    self.text_changed(&changed.text_document.uri);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = noted::<notification::DidCloseTextDocument>(note) {
                    self.close(&closed.text_document.uri);
                }
            }
            _ => {} // saved, traced, cancelled: nothing waits for it
        }
    }

    /// What imports this document sees its new text.
    fn text_changed(&mut self, uri: &Uri) {
        let Some(changed) = self.documents.get(uri) else { return };
        let name = changed.name().to_owned();
        self.texts.put(&name, changed.text());
        self.forget_imports_of(&name);
    }

    fn forget_imports_of(&mut self, name: &str) {
        self.documents.values_mut().filter(|d| d.imports(name)).for_each(Document::forget);
    }

    fn close(&mut self, uri: &Uri) {
        if let Some(closed) = self.documents.remove(uri) {
            // From now on what is on disk counts.
            self.texts.remove(closed.name());
            self.forget_imports_of(closed.name());
            let params = PublishDiagnosticsParams::new(uri.clone(), Vec::new(), None);
            let note = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
            // If the editor is gone, reading the next message says so.
            let _ = self.connection.sender.send(Message::Notification(note));
        }
    }

    fn answer(&self, request: Request) -> Sent {
        let asked =
            Asked { folders: &self.folders, documents: &self.documents, pages: self.pages.as_deref() };
        let response = asked.answer(request);
        self.connection.sender.send(Message::Response(response))?;
        Ok(())
    }
}

/// What a notification says; one that does not parse is left alone, as the protocol has it.
fn noted<N: notification::Notification>(note: Notification) -> Option<N::Params> {
    note.extract(N::METHOD).ok()
}

#[cfg(test)]
mod tests {
    use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
    use serde_json::json;

    use super::{Ended, serve};

    fn request(id: i32, method: &str) -> Message {
        Message::Request(Request::new(id.into(), method.to_owned(), json!({"capabilities": {}})))
    }

    fn note(method: &str) -> Message {
        Message::Notification(Notification::new(method.to_owned(), json!({})))
    }

    /// What the server answers to these messages, and how it ends.
    fn conversation(messages: Vec<Message>) -> (Vec<Response>, Ended) {
        let (server, editor) = Connection::memory();
        messages.into_iter().for_each(|message| editor.sender.send(message).expect("sent"));
        let Connection { sender, receiver } = editor;
        drop(sender);
        let ended = serve(&server).expect("a conversation");
        drop(server);
        let answers = receiver.into_iter().filter_map(|message| match message {
            Message::Response(response) => Some(response),
            _ => None,
        });
        (answers.collect(), ended)
    }

    #[test]
    fn a_request_after_shutdown_is_refused_and_exit_ends_properly() {
        let begin = vec![request(1, "initialize"), note("initialized"), request(2, "shutdown")];
        let late = vec![request(3, "textDocument/hover"), request(4, "shutdown"), note("exit")];
        let (answers, ended) = conversation(begin.into_iter().chain(late).collect());
        let codes: Vec<Option<i32>> =
            answers.iter().map(|a| a.response_result.as_ref().err().map(|e| e.code)).collect();
        let invalid = Some(ErrorCode::InvalidRequest as i32);
        assert_eq!((codes, ended), (vec![None, None, invalid, invalid], Ended::Properly));
    }

    #[test]
    fn only_exit_after_shutdown_ends_properly() {
        let begin = || vec![request(1, "initialize"), note("initialized")];
        let then = |more: Vec<Message>| conversation(begin().into_iter().chain(more).collect()).1;
        assert_eq!(then(vec![note("exit")]), Ended::Abruptly);
        assert_eq!(then(vec![request(2, "shutdown")]), Ended::Abruptly);
        assert_eq!(then(vec![request(2, "shutdown"), note("exit")]), Ended::Properly);
        let (answers, _) = conversation(vec![request(1, "initialize"), request(2, "initialize")]);
        assert!(answers[1].response_result.is_err(), "a second `initialize`");
    }
}
