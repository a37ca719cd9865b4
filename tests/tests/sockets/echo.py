# SPDX-License-Identifier: MIT
"""An echo server and its client with asyncio: `echo.py serve|ask ADDRESS PORT`."""
import asyncio
import sys

SENT = bytes(n % 251 for n in range(3_000_000))


async def echo(reader, writer):
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.close()
    await writer.wait_closed()


async def serve(address, port):
    server = await asyncio.start_server(echo, address, port)
    async with server:
        await server.serve_forever()


async def put(writer):
    writer.write(SENT)
    writer.write_eof()
    await writer.drain()


async def ask(address, port):
    reader, writer = await asyncio.open_connection(address, port)
    got, _ = await asyncio.gather(reader.read(), put(writer))
    assert got == SENT, f"{len(got)} bytes, and not the same"
    print(len(got), "the same")
    writer.close()
    await writer.wait_closed()


asyncio.run({"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2], int(sys.argv[3])))
