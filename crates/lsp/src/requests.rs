// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked, and who answers it.

use std::collections::BTreeMap;

use carrick_driver::explain;
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::request::{self as rq, Request as _};
use lsp_types::{GotoDefinitionResponse, Position, TextDocumentIdentifier, Uri};
use serde_json::{Value, json};

use crate::document::{Analysis, Document};
use crate::{actions, completion, hover, outline, rename, semantic, signature, workspace};

/// All that an answer may depend on.
pub struct Asked<'a> {
    /// that the editor shows, where programs are looked for
    pub folders: &'a [String],
    pub documents: &'a BTreeMap<Uri, Document>,
    /// where the pages of the diagnostics are
    pub pages: Option<&'a str>,
}

/// Why there is no answer.
struct Refused {
    code: ErrorCode,
    message: String,
}

type Answer = Result<Value, Refused>;

impl Asked<'_> {
    pub fn answer(&self, request: Request) -> Response {
        let id: RequestId = request.id.clone();
        match self.result(request) {
            Ok(result) => Response::new_ok(id, result),
            Err(refused) => Response::new_err(id, refused.code as i32, refused.message),
        }
    }

    fn result(&self, request: Request) -> Answer {
        match request.method.as_str() {
            rq::HoverRequest::METHOD
            | rq::GotoDefinition::METHOD
            | rq::References::METHOD
            | rq::DocumentHighlightRequest::METHOD
            | rq::PrepareRenameRequest::METHOD
            | rq::Rename::METHOD
            | rq::SignatureHelpRequest::METHOD
            | rq::Completion::METHOD => self.at_position(request),
            rq::SemanticTokensFullRequest::METHOD
            | rq::DocumentSymbolRequest::METHOD
            | rq::Formatting::METHOD
            | rq::CodeActionRequest::METHOD => self.of_document(request),
            rq::WorkspaceSymbolRequest::METHOD => {
                let query: String = part(&request.params, "query")?;
                sent(workspace::symbols(self.folders, self.documents.iter(), &query))
            }
            "carrick/explain" => explained(&request.params),
            other => Err(refused(ErrorCode::MethodNotFound, format!("there is no `{other}` here"))),
        }
    }

    /// What is asked of a place.
    fn at_position(&self, request: Request) -> Answer {
        let (uri, document) = self.document(&request.params)?;
        let position: Position = part(&request.params, "position")?;
        let analysis = document.analysis();
        let at = analysis.lines.offset(analysis.text(), position);
        match request.method.as_str() {
            rq::HoverRequest::METHOD => sent(hover::hover(analysis, at)),
            rq::GotoDefinition::METHOD => sent(definition(analysis, &uri, at)),
            rq::References::METHOD => {
                let declaration = &request.params["context"]["includeDeclaration"];
                sent(rename::references(analysis, &uri, at, declaration.as_bool().unwrap_or(true)))
            }
            rq::DocumentHighlightRequest::METHOD => sent(rename::highlights(analysis, at)),
            rq::PrepareRenameRequest::METHOD => sent(rename::prepare(analysis, at)),
            rq::Rename::METHOD => {
                let name: String = part(&request.params, "newName")?;
                let edits = rename::rename(analysis, &uri, at, &name);
                sent(edits.map_err(|why| refused(ErrorCode::RequestFailed, why))?)
            }
            rq::SignatureHelpRequest::METHOD => sent(signature::signature(analysis, at)),
            _ => sent(completion::completion(analysis, at)),
        }
    }

    /// What is asked of a whole document, or of a range.
    fn of_document(&self, request: Request) -> Answer {
        let (uri, document) = self.document(&request.params)?;
        match request.method.as_str() {
            rq::SemanticTokensFullRequest::METHOD => sent(semantic::tokens(document.analysis())),
            rq::DocumentSymbolRequest::METHOD => sent(outline::outline(document.analysis())),
            rq::Formatting::METHOD => sent(actions::format(document)),
            _ => {
                let analysis = document.analysis();
                let span = analysis.lines.span(analysis.text(), part(&request.params, "range")?);
                sent(actions::mends(document, &uri, span, self.pages))
            }
        }
    }

    fn document(&self, params: &Value) -> Result<(Uri, &Document), Refused> {
        let TextDocumentIdentifier { uri } = part(params, "textDocument")?;
        let document = self.documents.get(&uri);
        let document = document
            .ok_or_else(|| refused(ErrorCode::InvalidParams, format!("{} is not open", uri.as_str())))?;
        Ok((uri, document))
    }
}

fn definition(analysis: &Analysis, uri: &Uri, at: u32) -> Option<GotoDefinitionResponse> {
    let span = analysis.index.definition(at)?;
    Some(analysis.location(uri, span).into())
}

/// `carrick/explain {code}`: the page of a diagnostic, as Markdown.
fn explained(params: &Value) -> Answer {
    let code: String = part(params, "code")?;
    let page = explain::explain(&code).map_err(|e| refused(ErrorCode::InvalidParams, e.to_string()))?;
    Ok(json!({"page": page.explain}))
}

/// A part of what a request says.
fn part<T: serde::de::DeserializeOwned>(params: &Value, name: &str) -> Result<T, Refused> {
    let value = params.get(name).cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|e| refused(ErrorCode::InvalidParams, format!("`{name}`: {e}")))
}

fn sent(result: impl serde::Serialize) -> Answer {
    serde_json::to_value(result).map_err(|e| refused(ErrorCode::InternalError, e.to_string()))
}

fn refused(code: ErrorCode, message: String) -> Refused {
    Refused { code, message }
}
