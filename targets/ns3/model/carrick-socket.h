// SPDX-License-Identifier: MIT
// A socket of ns-3 over a program with the interface `stream`, or `message`.
// A packet that is sent over the second arrives as it was sent.
#ifndef CARRICK_SOCKET_H
#define CARRICK_SOCKET_H

#include <deque>
#include <vector>

#include "carrick-call.h"
#include "carrick-protocol.h"
#include "ns3/inet-socket-address.h"
#include "ns3/socket.h"

namespace ns3 {

class CarrickSocket : public Socket {
  public:
    static TypeId GetTypeId();

    CarrickSocket() = default;
    ~CarrickSocket() override;
    // Of this protocol; a socket has one before anything else is done with it.
    void SetProtocol(Ptr<CarrickProtocol> protocol);
    // Whether sockets can be made over this interface.
    static bool Speaks(const carrick_program &program);

    // The program's handle of the connection, 0 if there is none yet.
    uint64_t GetHandle() const {
        return m_handle;
    }

    SocketErrno GetErrno() const override;
    SocketType GetSocketType() const override;
    Ptr<Node> GetNode() const override;
    int Bind(const Address &address) override;
    int Bind() override;
    int Bind6() override;
    int Close() override;
    int ShutdownSend() override;
    int ShutdownRecv() override;
    int Connect(const Address &address) override;
    int Listen() override;
    uint32_t GetTxAvailable() const override;
    int Send(Ptr<Packet> packet, uint32_t flags) override;
    int SendTo(Ptr<Packet> packet, uint32_t flags, const Address &to) override;
    uint32_t GetRxAvailable() const override;
    Ptr<Packet> Recv(uint32_t most, uint32_t flags) override;
    Ptr<Packet> RecvFrom(uint32_t most, uint32_t flags, Address &from) override;
    int GetSockName(Address &address) const override;
    int GetPeerName(Address &address) const override;
    bool SetAllowBroadcast(bool allow) override;
    bool GetAllowBroadcast() const override;

  private:
    int Fail(SocketErrno error);
    CarrickCall Find(const char *call) const;
    void Ask(const CarrickCall &call, carrick_request request, void (CarrickSocket::*done)(const carrick_completion &));
    void Ask(const char *call);
    void Connected(const carrick_completion &done);
    void Opened();
    void Open();
    void Join(InetSocketAddress peer);
    void Meet();
    bool Awaits(const CarrickSocket &client) const;
    Ptr<CarrickSocket> Child() const;
    void Listening(const carrick_completion &done);
    void Accept();
    void Accepted(const carrick_completion &done);
    void Take(uint64_t handle);
    bool Gather();
    void Push();
    void Pushed(const carrick_completion &done);
    void Receive();
    void Received(const carrick_completion &done);
    void Ended(uint8_t status);
    void PeerClosed();
    void Later();
    void Tell();
    void Finish();

    Ptr<CarrickProtocol> m_protocol;
    CarrickCall m_sendCall, m_recvCall;
    bool m_messages = false; // each packet is a message
    SocketErrno m_errno = ERROR_NOTERROR;
    InetSocketAddress m_local = InetSocketAddress(Ipv4Address::GetAny(), 0);
    InetSocketAddress m_peer = InetSocketAddress(Ipv4Address::GetAny(), 0);
    bool m_bound = false, m_connecting = false, m_listening = false, m_ended = false;
    bool m_closing = false, m_closed = false, m_shutdownSend = false, m_shutdownRecv = false;
    bool m_ending = false; // the peer is to hear that all is sent, once it is
    uint64_t m_handle = 0;

    // What is to be sent: bytes [m_sent, m_gathered) of m_bytes, which are with the core if m_sending, and then m_out.
    std::deque<Ptr<Packet>> m_out;
    std::vector<uint8_t> m_bytes;
    size_t m_sent = 0, m_gathered = 0;
    size_t m_outOctets = 0; // of all of them
    bool m_sending = false;
    uint32_t m_taken = 0; // bytes that the application has not heard of
    bool m_later = false, m_arrived = false;

    std::deque<Ptr<Packet>> m_in;
    uint32_t m_inOctets = 0;
    std::vector<uint8_t> m_space; // for the next receive
    bool m_receiving = false;

    uint32_t m_sendBuffer = 0, m_receiveBuffer = 0, m_backlog = 0;
};

} // namespace ns3

#endif
