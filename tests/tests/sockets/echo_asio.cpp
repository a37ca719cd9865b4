/* SPDX-License-Identifier: MIT OR Apache-2.0 */
// An echo server on two threads and its client with Boost.Asio: `echo_asio serve|ask ADDRESS PORT`.
#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

class Connection : public std::enable_shared_from_this<Connection> {
public:
    explicit Connection(tcp::socket socket) : socket_(std::move(socket)) {}

    void read() {
        auto self = shared_from_this();
        socket_.async_read_some(asio::buffer(piece_), [self](error_code error, std::size_t n) {
            if (!error)
                self->write(n);
        });
    }

private:
    void write(std::size_t n) {
        auto self = shared_from_this();
        asio::async_write(socket_, asio::buffer(piece_, n), [self](error_code error, std::size_t) {
            if (!error)
                self->read();
        });
    }

    tcp::socket socket_;
    std::array<char, 65536> piece_{};
};

void accept(tcp::acceptor &acceptor) {
    acceptor.async_accept([&acceptor](error_code error, tcp::socket socket) {
        if (!error) {
            socket.set_option(tcp::no_delay(true));
            std::make_shared<Connection>(std::move(socket))->read();
        }
        accept(acceptor);
    });
}

int serve(const tcp::endpoint &where) {
    asio::io_context context;
    tcp::acceptor acceptor(context, where);
    accept(acceptor);
    std::thread other([&context] { context.run(); });
    context.run();
    other.join();
    return 0;
}

// Connects in the background, and reads and writes at the same time.
int ask(const tcp::endpoint &where) {
    asio::io_context context;
    tcp::socket socket(context);
    std::vector<char> sent(3000000), got;
    for (std::size_t n = 0; n < sent.size(); n++)
        sent[n] = static_cast<char>(n % 251);
    error_code failed;
    socket.async_connect(where, [&](error_code error) {
        failed = error;
        if (error)
            return;
        asio::async_write(socket, asio::buffer(sent), [&](error_code error, std::size_t) {
            failed = error;
            socket.shutdown(tcp::socket::shutdown_send, error);
        });
        asio::async_read(socket, asio::dynamic_buffer(got), [&](error_code error, std::size_t) {
            if (error != asio::error::eof)
                failed = error;
        });
    });
    context.run();
    if (failed || got != sent) {
        std::cerr << failed.message() << ", " << got.size() << " bytes, and not the same\n";
        return 1;
    }
    std::cout << got.size() << " the same\n";
    return 0;
}

} // namespace

int main(int, char **argv) {
    tcp::endpoint where(asio::ip::make_address(argv[2]), static_cast<unsigned short>(std::atoi(argv[3])));
    return std::string(argv[1]) == "serve" ? serve(where) : ask(where);
}
