// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts `carrick lsp` for transport programs; all that it knows of them the server knows.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function settings() {
  return vscode.workspace.getConfiguration("carrick");
}

async function start() {
  const command = settings().get("command");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  const options = ["errorPages", "with", "without"];
  client = new LanguageClient("carrick", "Carrick", server, {
    documentSelector: [{ language: "mtp" }],
    initializationOptions: Object.fromEntries(options.map((name) => [name, settings().get(name) || undefined])),
  });
  try {
    await client.start();
  } catch (error) {
    const choose = "Open Settings";
    const why = `Carrick's language server does not start as \`${command} lsp\`: ${error.message}. Say where it is.`;
    if ((await vscode.window.showErrorMessage(why, choose)) === choose) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "carrick.command");
    }
  }
}

async function stop() {
  const ended = client;
  client = undefined;
  if (ended?.isRunning()) await ended.stop();
}

/** The page of the diagnostic at the cursor, or of one that is asked for. */
async function explain() {
  const editor = vscode.window.activeTextEditor;
  const here = editor && vscode.languages.getDiagnostics(editor.document.uri);
  const at = here?.find((d) => d.source === "carrick" && d.range.contains(editor.selection.active));
  const code = typeof at?.code === "object" ? at.code.value : at?.code;
  const asked = code ?? (await vscode.window.showInputBox({ prompt: "Which diagnostic?", placeHolder: "MTP0201" }));
  if (!asked || !client) return;
  try {
    const { page } = await client.sendRequest("carrick/explain", { code: String(asked) });
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content: page });
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  } catch (error) {
    await vscode.window.showErrorMessage(error.message);
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("carrick.explain", explain),
    vscode.commands.registerCommand("carrick.restart", restart),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("carrick") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
