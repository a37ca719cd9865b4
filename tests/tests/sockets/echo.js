// SPDX-License-Identifier: MIT OR Apache-2.0
// An echo server and its client with Node: `echo.js serve|ask ADDRESS PORT`.
"use strict";
const net = require("net");

const SIZE = 3000000;
const [, , what, host, port] = process.argv;

function serve() {
  net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(Number(port), host);
}

function ask() {
  const sent = Buffer.alloc(SIZE, Buffer.from(Array.from({ length: 251 }, (_, n) => n)));
  const got = [];
  const socket = net.connect({ port: Number(port), host }, () => socket.end(sent));
  socket.on("data", (piece) => got.push(piece));
  socket.on("end", () => {
    const all = Buffer.concat(got);
    if (!all.equals(sent)) throw new Error(`${all.length} bytes, and not the same`);
    console.log(`${all.length} the same`);
  });
}

({ serve, ask })[what]();
