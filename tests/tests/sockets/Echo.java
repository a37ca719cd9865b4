// SPDX-License-Identifier: MIT OR Apache-2.0

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** An echo server with a selector, and its client with a socket that blocks: {@code Echo serve|ask ADDRESS PORT}. */
final class Echo {
    private static final int SIZE = 3_000_000;

    public static void main(String[] args) throws Exception {
        InetSocketAddress address = new InetSocketAddress(args[1], Integer.parseInt(args[2]));
        if (args[0].equals("serve")) {
            serve(address);
        } else {
            ask(address);
        }
    }

    private static void serve(InetSocketAddress address) throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(address).configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    SocketChannel channel = listener.accept();
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    channel.configureBlocking(false);
                    channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(1 << 16));
                } else {
                    echo(key);
                }
            }
            selector.selectedKeys().clear();
        }
    }

    /** Reads while there is space, and writes what was read. */
    private static void echo(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteBuffer buffer = (ByteBuffer) key.attachment();
        boolean ended = channel.read(buffer) < 0;
        buffer.flip();
        channel.write(buffer);
        buffer.compact();
        if (ended && buffer.position() == 0) {
            channel.close();
        } else {
            key.interestOps(
                (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0)
                    | (!ended && buffer.hasRemaining() ? SelectionKey.OP_READ : 0));
        }
    }

    private static void ask(InetSocketAddress address) throws Exception {
        byte[] sent = new byte[SIZE];
        for (int n = 0; n < SIZE; n++) {
            sent[n] = (byte) (n % 251);
        }
        try (Socket socket = new Socket()) {
            socket.connect(address, 20_000);
            socket.setSoTimeout(20_000);
            Thread writer = new Thread(() -> {
                try {
                    socket.getOutputStream().write(sent);
                    socket.shutdownOutput();
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            writer.start();
            byte[] got = socket.getInputStream().readAllBytes();
            writer.join();
            if (!Arrays.equals(got, sent)) {
                throw new IOException(got.length + " bytes, and not the same");
            }
            System.out.println(got.length + " the same");
        }
    }
}
