// SPDX-License-Identifier: MIT OR Apache-2.0
// `carrick lsp`, by the library with which VS Code's extensions speak the protocol. CARRICK names the command.
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const test = require("node:test");
const rpc = require("vscode-jsonrpc/node");
const lsp = require("vscode-languageserver-protocol");

const TEXT = [
  "/// octets so far",
  "const uint32 COUNT = 1;",
  "uint32 next(uint32 n) {",
  "    return n + COUMT;",
  "}",
  "",
].join("\n");
const URI = "file:///a.mtp";
const textDocument = { uri: URI };

async function start() {
  const server = spawn(process.env.CARRICK ?? "carrick", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  return { server, connection, capabilities };
}

/** What is wrong with the text once the server has said so. */
function diagnostics(connection) {
  return new Promise((resolve) => {
    const heard = connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => {
      heard.dispose();
      resolve(params.diagnostics);
    });
  });
}

test("an editor's session", async () => {
  const { server, connection, capabilities } = await start();
  assert.strictEqual(capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental);
  let told = diagnostics(connection);
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri: URI, languageId: "mtp", version: 1, text: TEXT },
  });
  const wrong = (await told).find((d) => d.message.includes("COUMT"));
  assert.deepStrictEqual(wrong.range, { start: { line: 3, character: 15 }, end: { line: 3, character: 20 } });

  const actions = await connection.sendRequest(lsp.CodeActionRequest.type, {
    textDocument,
    range: wrong.range,
    context: { diagnostics: [wrong] },
  });
  const [mend] = actions[0].edit.changes[URI];
  assert.deepStrictEqual(mend, { range: wrong.range, newText: "COUNT" });
  told = diagnostics(connection);
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: URI, version: 2 },
    contentChanges: [{ range: mend.range, text: mend.newText }],
  });
  assert.ok((await told).every((d) => !d.message.includes("COUMT")));

  const position = { line: 3, character: 17 };
  const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position });
  assert.match(hover.contents.value, /const uint32 COUNT = 1;[^]*octets so far/);
  const definition = await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position });
  assert.strictEqual(definition.range.start.line, 1);
  const symbols = await connection.sendRequest(lsp.DocumentSymbolRequest.type, { textDocument });
  assert.deepStrictEqual(symbols.map((s) => s.name), ["COUNT", "next"]);
  const renamed = await connection.sendRequest(lsp.RenameRequest.type, { textDocument, position, newName: "STEP" });
  assert.strictEqual(renamed.changes[URI].length, 2);
  const offered = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument, position });
  assert.ok(offered.some((item) => item.label === "COUNT" && item.kind === lsp.CompletionItemKind.Constant));
  const tokens = await connection.sendRequest(lsp.SemanticTokensRequest.type, { textDocument });
  assert.strictEqual(tokens.data.length % 5, 0);
  assert.ok(tokens.data.length > 20);
  await assert.rejects(connection.sendRequest("carrick/explain", { code: "MTP9999" }), /MTP9999/);

  await connection.sendRequest(lsp.ShutdownRequest.type);
  const ended = new Promise((resolve) => server.once("exit", resolve));
  await connection.sendNotification(lsp.ExitNotification.type);
  assert.strictEqual(await ended, 0);
  connection.dispose();
});
