// SPDX-License-Identifier: MIT OR Apache-2.0
// The grammar, by the engine that VS Code colours with.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const GRAMMAR = path.join(__dirname, "../syntaxes/mtp.tmLanguage.json");
const PROGRAM = path.join(__dirname, "../../../protocols/tcp");

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const onigLib = Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  });
  const loadGrammar = async () => parseRawGrammar(fs.readFileSync(GRAMMAR, "utf8"), GRAMMAR);
  return new Registry({ onigLib, loadGrammar }).loadGrammar("source.mtp");
}

/** Each token of a text with its innermost scope. */
function tokens(grammar, text) {
  const found = [];
  let state = INITIAL;
  for (const line of text.split("\n")) {
    const read = grammar.tokenizeLine(line, state);
    state = read.ruleStack;
    for (const token of read.tokens) {
      found.push([line.slice(token.startIndex, token.endIndex).trim(), token.scopes.at(-1)]);
    }
  }
  return found;
}

test("words, numbers, names and comments are told apart", async () => {
  const read = tokens(
    await grammar(),
    'import "a.mtp";\n/// why\nparam duration rto_min = 10ms in 1ms..60s; /* a\nb */ void f(uint32 x) { pkt_gen(MAX); }',
  );
  const scopes = new Map(read);
  const wanted = {
    import: "keyword.control.mtp",
    '"a.mtp"': "string.quoted.double.mtp",
    "/// why": "comment.line.documentation.mtp",
    duration: "storage.type.mtp",
    "10ms": "constant.numeric.mtp",
    "60s": "constant.numeric.mtp",
    f: "entity.name.function.mtp",
    pkt_gen: "support.function.instruction.mtp",
    MAX: "constant.other.mtp",
  };
  for (const [text, scope] of Object.entries(wanted)) assert.strictEqual(scopes.get(text), scope, text);
  assert.ok(read.some(([text, scope]) => text === "b" && scope === "comment.block.mtp"));
});

test("a whole program has no comment that does not end", async () => {
  const files = fs.readdirSync(PROGRAM).filter((file) => file.endsWith(".mtp"));
  const text = files.map((file) => fs.readFileSync(path.join(PROGRAM, file), "utf8")).join("");
  const read = tokens(await grammar(), text);
  assert.ok(read.length > 5_000, `only ${read.length} tokens`);
  assert.ok(!read.at(-1)[1].startsWith("comment"));
  assert.ok(read.filter(([, scope]) => scope === "keyword.control.mtp").length > 500);
});
