# SPDX-License-Identifier: MIT
"""An editor: it opens a program of so many lines in `carrick lsp` and types."""

import json
import subprocess
import time
from pathlib import Path


class Editor:
    def __init__(self, carrick, program, lines):
        text = Path(program).read_text()
        # Beside the program, as its imports are.
        self.uri = Path(program).resolve().with_name("typed.mtp").as_uri()
        missing = lines - text.count("\n")
        text += "".join(f"const uint32 MORE_{n} = {n};\n" for n in range(missing))
        self.last_line = text.count("\n")
        self.process = subprocess.Popen([carrick, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = 1
        self.send({"id": 0, "method": "initialize", "params": {"capabilities": {}}})
        self.read()
        self.send({"method": "initialized", "params": {}})
        document = {"uri": self.uri, "languageId": "mtp", "version": self.version, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self.read()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def keystroke(self):
        """Milliseconds from a letter typed at the end until the diagnostics of the whole text are there."""
        self.version += 1
        end = {"line": self.last_line, "character": 0}
        change = {"range": {"start": end, "end": end}, "text": "/"}
        begin = time.perf_counter()
        self.send({"method": "textDocument/didChange", "params": {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [change]}})
        if self.read()["params"]["version"] != self.version:
            raise RuntimeError("the answer is not to what was typed")
        return (time.perf_counter() - begin) * 1000

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
