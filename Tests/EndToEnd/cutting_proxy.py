#!/usr/bin/env python3
"""Forwards connections to a server, and cuts them on command.

Arguments: the server's port. Prints the port where it listens. Each line of standard input is a command, answered by "ok":
  cut    cuts every connection, and new ones at once
  pass   forwards connections again
"""
import asyncio
import sys

target = int(sys.argv[1])
writers = set()
is_cut = False


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def accept(reader, writer):
    if is_cut:
        writer.transport.abort()
        return
    try:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", target)
    except OSError:
        writer.transport.abort()
        return
    pair = {writer, up_writer}
    writers.update(pair)
    await asyncio.gather(copy(reader, up_writer), copy(up_reader, writer))
    writers.difference_update(pair)


async def main():
    global is_cut
    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        is_cut = line.strip() == b"cut"
        if is_cut:
            for writer in list(writers):
                writer.transport.abort()
        print("ok", flush=True)


asyncio.run(main())
