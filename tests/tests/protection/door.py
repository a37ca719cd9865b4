# SPDX-License-Identifier: MIT
"""What is asked at the door of the sockets' relay, byte by byte, as its library does (carrick/sockets.h)."""
import os
import pathlib
import re
import socket
import struct

HEADER = pathlib.Path(__file__).parents[3] / "targets/native/include/carrick/sockets.h"
VERSION = int(re.search(r"CARRICK_SOCKETS_VERSION +(\d+)", HEADER.read_text()).group(1))
LISTEN, WHY, SET = 2, 4, 5
RESET = 4  # an option: closing resets


def asked(kind, id, end):
    """The error that the relay answers to one who shows this socket as the program's end; 0: none."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(os.environ["CARRICK_SOCKETS"])
    ask = struct.pack("=IIQQQHHIIIIIIIII", VERSION, kind, id, 0, 0, 0, 0, RESET, 1, *[0] * 7)
    socket.send_fds(door, [ask], [end.fileno()])
    return struct.unpack("=i", door.recv(64)[:4])[0]
