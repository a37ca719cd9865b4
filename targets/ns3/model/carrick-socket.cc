// SPDX-License-Identifier: MIT
#include "carrick-socket.h"

#include <algorithm>
#include <cstring>

#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3 {

namespace {

constexpr uint32_t RECEIVE_MOST = 65536; // bytes of a receive
constexpr size_t GATHER_LEAST = 65536;   // bytes of a stream for which a request waits for no further packets

bool Has(const carrick_program &program, const char *interface) {
    return program.interface_name && std::strcmp(program.interface_name, interface) == 0;
}

// The sockets for messages that connect or listen, in the order in which they began.
std::vector<CarrickSocket *> &Ends() {
    static std::vector<CarrickSocket *> ends;
    return ends;
}

} // namespace

TypeId CarrickSocket::GetTypeId() {
    static TypeId type =
        TypeId("ns3::CarrickSocket")
            .SetParent<Socket>()
            .SetGroupName("Carrick")
            .AddConstructor<CarrickSocket>()
            .AddAttribute("SndBufSize", "Octets that wait for the program at most", UintegerValue(131072),
                          MakeUintegerAccessor(&CarrickSocket::m_sendBuffer), MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("RcvBufSize", "Octets that wait for the application, before no more are received",
                          UintegerValue(131072), MakeUintegerAccessor(&CarrickSocket::m_receiveBuffer),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Backlog", "Connections that wait to be accepted at most", UintegerValue(128),
                          MakeUintegerAccessor(&CarrickSocket::m_backlog), MakeUintegerChecker<uint32_t>(1));
    return type;
}

bool CarrickSocket::Speaks(const carrick_program &program) {
    return Has(program, "stream") || Has(program, "message");
}

CarrickSocket::~CarrickSocket() {
    Ends().erase(std::remove(Ends().begin(), Ends().end(), this), Ends().end());
}

void CarrickSocket::SetProtocol(Ptr<CarrickProtocol> protocol) {
    m_protocol = protocol;
    m_messages = Has(*protocol->Program().plain, "message");
    m_sendCall = Find("send");
    m_recvCall = Find("recv");
}

int CarrickSocket::Fail(SocketErrno error) {
    m_errno = error;
    return -1;
}

CarrickCall CarrickSocket::Find(const char *call) const {
    return CarrickCall(*m_protocol->Program().plain, call);
}

// A request holds the socket, whose memory the program may write to, until it completes.
void CarrickSocket::Ask(const CarrickCall &call, carrick_request request,
                        void (CarrickSocket::*done)(const carrick_completion &)) {
    CarrickCore &core = m_protocol->Core();
    if (call.Exists()) {
        Ptr<CarrickSocket> self(this);
        call.Make(core, request, [self, done](const carrick_completion &completion) {
            if (done) {
                (PeekPointer(self)->*done)(completion);
            }
        });
    }
}

void CarrickSocket::Ask(const char *name) {
    carrick_request request = {};
    request.handle = m_handle;
    Ask(Find(name), request, nullptr);
}

Socket::SocketErrno CarrickSocket::GetErrno() const {
    return m_errno;
}

Socket::SocketType CarrickSocket::GetSocketType() const {
    return m_messages ? NS3_SOCK_SEQPACKET : NS3_SOCK_STREAM;
}

Ptr<Node> CarrickSocket::GetNode() const {
    return m_protocol->GetNode();
}

int CarrickSocket::Bind(const Address &address) {
    if (!InetSocketAddress::IsMatchingType(address)) {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (m_bound) {
        return Fail(ERROR_INVAL);
    }
    m_local = InetSocketAddress::ConvertFrom(address);
    if (m_local.GetPort() == 0) {
        m_local.SetPort(m_protocol->NextPort());
    }
    m_bound = true;
    return 0;
}

int CarrickSocket::Bind() {
    return Bind(InetSocketAddress(Ipv4Address::GetAny(), 0));
}

int CarrickSocket::Bind6() {
    return Fail(ERROR_AFNOSUPPORT);
}

int CarrickSocket::Connect(const Address &address) {
    if (!InetSocketAddress::IsMatchingType(address)) {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (m_connecting || m_handle || m_listening) {
        return Fail(ERROR_ISCONN);
    }
    if (!m_bound) {
        Bind();
    }
    m_peer = InetSocketAddress::ConvertFrom(address);
    Open();
    if (m_messages) {
        Meet();
    }
    return 0;
}

void CarrickSocket::Open() {
    m_connecting = true;
    m_local.SetIpv4(m_protocol->GetAddress());
    const CarrickCall call = Find(m_messages ? "open" : "connect");
    Ask(call,
        call.Request(0, {{"local_ip", m_local.GetIpv4().Get()},
                         {"local_port", m_local.GetPort()},
                         {"remote_ip", m_peer.GetIpv4().Get()},
                         {"remote_port", m_peer.GetPort()}}),
        &CarrickSocket::Connected);
}

bool CarrickSocket::Awaits(const CarrickSocket &client) const {
    return m_listening && !m_closing && !client.m_listening && !client.m_closing &&
           &client.m_protocol->Program() == &m_protocol->Program() && client.m_peer.GetIpv4() == m_local.GetIpv4() &&
           client.m_peer.GetPort() == m_local.GetPort();
}

// Programs for messages have no handshake: applications open both ends. A socket that listens opens its end for each
// socket of this simulation that connects to it, whichever of them was first.
void CarrickSocket::Meet() {
    Ends().push_back(this);
    for (CarrickSocket *other : Ends()) {
        CarrickSocket *listener = m_listening ? this : other, *client = m_listening ? other : this;
        if (listener->Awaits(*client)) {
            Simulator::ScheduleWithContext(listener->GetNode()->GetId(), Time(0), &CarrickSocket::Join,
                                           Ptr<CarrickSocket>(listener), client->m_local);
        }
    }
}

void CarrickSocket::Join(InetSocketAddress peer) {
    if (m_closing || !NotifyConnectionRequest(peer)) {
        return;
    }
    Ptr<CarrickSocket> child = Child();
    child->m_peer = peer;
    child->Open();
    NotifyNewConnectionCreated(child, peer);
}

// Applications set their callbacks after Connect: they hear of it in an event of its own.
void CarrickSocket::Connected(const carrick_completion &done) {
    m_connecting = false;
    if (done.status == CARRICK_OK) {
        m_handle = done.value;
        Simulator::ScheduleNow(&CarrickSocket::Opened, Ptr<CarrickSocket>(this));
        return;
    }
    m_ended = true;
    m_errno = done.status == CARRICK_IN_USE ? ERROR_ADDRINUSE : ERROR_NOTCONN;
    Simulator::ScheduleNow(&CarrickSocket::NotifyConnectionFailed, Ptr<CarrickSocket>(this));
}

void CarrickSocket::Opened() {
    NotifyConnectionSucceeded();
    Receive();
    Push();
    Later();
}

int CarrickSocket::Listen() {
    if (!m_bound || m_handle || m_connecting) {
        return Fail(ERROR_INVAL);
    }
    m_listening = true;
    m_local.SetIpv4(m_protocol->GetAddress());
    if (m_messages) {
        Meet();
        return 0;
    }
    const CarrickCall call = Find("listen");
    Ask(call,
        call.Request(
            0, {{"local_ip", m_local.GetIpv4().Get()}, {"local_port", m_local.GetPort()}, {"backlog", m_backlog}}),
        &CarrickSocket::Listening);
    return m_ended ? -1 : 0;
}

void CarrickSocket::Listening(const carrick_completion &done) {
    if (done.status != CARRICK_OK) {
        m_ended = true;
        m_errno = done.status == CARRICK_IN_USE ? ERROR_ADDRINUSE : ERROR_INVAL;
        return;
    }
    m_handle = done.value;
    Accept();
}

void CarrickSocket::Accept() {
    carrick_request request = {};
    request.handle = m_handle;
    Ask(Find("accept"), request, &CarrickSocket::Accepted);
}

void CarrickSocket::Accepted(const carrick_completion &done) {
    if (done.status != CARRICK_OK) {
        return;
    }
    Accept();
    Ptr<CarrickSocket> child = Child();
    child->Take(done.value);
    if (!NotifyConnectionRequest(child->m_peer)) {
        child->Close();
        return;
    }
    NotifyNewConnectionCreated(child, child->m_peer);
    child->Receive();
}

Ptr<CarrickSocket> CarrickSocket::Child() const {
    Ptr<CarrickSocket> child = CreateObject<CarrickSocket>();
    child->SetProtocol(m_protocol);
    child->m_sendBuffer = m_sendBuffer;
    child->m_receiveBuffer = m_receiveBuffer;
    child->m_shutdownSend = m_shutdownSend;
    child->m_local = m_local;
    child->m_bound = true;
    return child;
}

// Takes over a connection that a peer opened.
void CarrickSocket::Take(uint64_t handle) {
    m_handle = handle;
    carrick_identity identity;
    if (!m_protocol->Core().Identify(handle, identity)) {
        return;
    }
    for (uint32_t i = 0; i < identity.count; ++i) {
        const std::string name = identity.names[i];
        if (name == "remote_ip") {
            m_peer.SetIpv4(Ipv4Address(static_cast<uint32_t>(identity.parts[i])));
        } else if (name == "remote_port") {
            m_peer.SetPort(static_cast<uint16_t>(identity.parts[i]));
        }
    }
}

int CarrickSocket::Send(Ptr<Packet> packet, uint32_t) {
    if (m_ended || m_listening || (!m_handle && !m_connecting)) {
        return Fail(ERROR_NOTCONN);
    }
    if (m_shutdownSend || m_closing) {
        return Fail(ERROR_SHUTDOWN);
    }
    const uint32_t size = packet->GetSize();
    if (size > GetTxAvailable()) {
        if (size > m_sendBuffer) {
            m_protocol->ReportSendError(size, "longer than SndBufSize");
        }
        return Fail(ERROR_MSGSIZE);
    }
    if (size > 0 || m_messages) {
        m_out.push_back(packet->Copy()); // the application may change its own
        m_outOctets += size;
        Push();
    }
    return static_cast<int>(size);
}

int CarrickSocket::SendTo(Ptr<Packet> packet, uint32_t flags, const Address &) {
    return Send(packet, flags); // the peer is that of the connection
}

// Copies the next packets for a request: one message, or several packets of a stream. Returns false if there are none.
bool CarrickSocket::Gather() {
    if (m_out.empty()) {
        return false;
    }
    m_sent = m_gathered = 0;
    do {
        const uint32_t size = m_out.front()->GetSize();
        m_bytes.resize(std::max(m_bytes.size(), m_gathered + size));
        m_out.front()->CopyData(m_bytes.data() + m_gathered, size);
        m_gathered += size;
        m_out.pop_front();
    } while (!m_messages && !m_out.empty() && m_gathered < GATHER_LEAST);
    return true;
}

void CarrickSocket::Push() {
    if (m_sending || !m_handle || m_ended) {
        return;
    }
    if (m_sent == m_gathered && !Gather()) {
        if (m_closing) {
            Finish();
        } else if (m_ending) {
            m_ending = false;
            Ask("shutdown");
        }
        return;
    }
    m_sending = true;
    const carrick_program &program = *m_protocol->Program().plain;
    size_t len = m_gathered - m_sent;
    if (program.request_most > 0) {
        len = std::min<size_t>(len, program.request_most);
    }
    carrick_request request = m_sendCall.Request(m_handle, {{"len", len}});
    request.data = {m_bytes.data() + m_sent, len, 0};
    Ask(m_sendCall, request, &CarrickSocket::Pushed);
}

void CarrickSocket::Pushed(const carrick_completion &done) {
    m_sending = false;
    if (done.status != CARRICK_OK) {
        if (done.status != CARRICK_END_OF_STREAM && done.status != CARRICK_CLOSED) {
            m_protocol->ReportSendError(static_cast<uint32_t>(m_gathered - m_sent), CarrickCall::Reason(done.status));
        }
        Ended(done.status);
        return;
    }
    const auto taken = static_cast<size_t>(done.value);
    m_sent += taken;
    m_outOctets -= taken;
    m_taken += static_cast<uint32_t>(taken);
    Push();
    Later();
}

// An application may send or receive when it is notified, so that happens when the core is at rest, and never within a
// call of the application.
void CarrickSocket::Later() {
    if (m_later) {
        return;
    }
    m_later = true;
    const auto tell = [this] {
        Tell();
        Unref();
    };
    if (m_protocol->Core().AtRest(tell)) {
        Ref();
    } else {
        Simulator::ScheduleNow(&CarrickSocket::Tell, Ptr<CarrickSocket>(this));
    }
}

void CarrickSocket::Tell() {
    m_later = false;
    const uint32_t taken = m_taken;
    m_taken = 0;
    if (taken > 0) {
        NotifyDataSent(taken);
    }
    if (!m_closing && !m_shutdownSend) {
        NotifySend(GetTxAvailable());
    }
    if (m_arrived) {
        m_arrived = false;
        NotifyDataRecv();
    }
}

void CarrickSocket::Receive() {
    if (m_receiving || !m_handle || m_ended || m_inOctets >= m_receiveBuffer) {
        return;
    }
    m_receiving = true;
    m_space.resize(RECEIVE_MOST);
    const carrick_program &program = *m_protocol->Program().plain;
    uint32_t len = RECEIVE_MOST;
    if (program.request_most > 0) {
        len = std::min(len, program.request_most);
    }
    carrick_request request = m_recvCall.Request(m_handle, {{"len", len}});
    request.data = {m_space.data(), len, 0};
    request.writable = true;
    Ask(m_recvCall, request, &CarrickSocket::Received);
}

void CarrickSocket::Received(const carrick_completion &done) {
    m_receiving = false;
    if (done.status != CARRICK_OK) {
        Ended(done.status);
        return;
    }
    if (!m_shutdownRecv && !m_closing) {
        const auto len = static_cast<uint32_t>(done.value);
        m_in.push_back(Create<Packet>(m_space.data(), len));
        m_inOctets += len;
        m_arrived = true;
        Later();
    }
    Receive();
}

// Nothing more is received: the peer has sent all, or the connection is gone.
void CarrickSocket::Ended(uint8_t status) {
    if (m_ended || m_closed) {
        return;
    }
    if (status == CARRICK_END_OF_STREAM) {
        Simulator::ScheduleNow(&CarrickSocket::PeerClosed, Ptr<CarrickSocket>(this));
        return;
    }
    m_ended = true;
    m_errno = ERROR_NOTCONN;
    Ask("close");
    Simulator::ScheduleNow(&CarrickSocket::NotifyErrorClose, Ptr<CarrickSocket>(this));
}

void CarrickSocket::PeerClosed() {
    NotifyNormalClose();
    if (m_shutdownSend && !m_closing) {
        Close();
    }
}

uint32_t CarrickSocket::GetTxAvailable() const {
    return m_sendBuffer > m_outOctets ? static_cast<uint32_t>(m_sendBuffer - m_outOctets) : 0;
}

uint32_t CarrickSocket::GetRxAvailable() const {
    return m_inOctets;
}

Ptr<Packet> CarrickSocket::Recv(uint32_t most, uint32_t) {
    if (m_in.empty()) {
        m_errno = ERROR_AGAIN;
        return nullptr;
    }
    Ptr<Packet> packet = m_in.front();
    if (packet->GetSize() > most && m_messages) {
        m_inOctets -= packet->GetSize();
        m_in.pop_front();
        Receive();
        return packet->CreateFragment(0, most); // the rest of the message is lost
    }
    if (packet->GetSize() > most) {
        const uint32_t size = packet->GetSize();
        m_in.front() = packet->CreateFragment(most, size - most);
        packet = packet->CreateFragment(0, most);
        m_inOctets -= most;
        return packet;
    }
    m_in.pop_front();
    m_inOctets -= packet->GetSize();
    Receive();
    return packet;
}

Ptr<Packet> CarrickSocket::RecvFrom(uint32_t most, uint32_t flags, Address &from) {
    Ptr<Packet> packet = Recv(most, flags);
    if (packet) {
        from = m_peer;
    }
    return packet;
}

// What is still to be sent is sent first.
int CarrickSocket::Close() {
    if (m_closing) {
        return Fail(ERROR_BADF);
    }
    m_closing = true;
    Push();
    return 0;
}

void CarrickSocket::Finish() {
    if (!m_closed) {
        m_closed = true;
        Ask(m_listening ? "unlisten" : "close"); // a listener for messages has neither
    }
}

int CarrickSocket::ShutdownSend() {
    if (!m_shutdownSend && !m_listening) {
        m_ending = true;
        Push();
    }
    m_shutdownSend = true;
    return 0;
}

int CarrickSocket::ShutdownRecv() {
    m_shutdownRecv = true;
    return 0;
}

int CarrickSocket::GetSockName(Address &address) const {
    address = m_local;
    return 0;
}

int CarrickSocket::GetPeerName(Address &address) const {
    address = m_peer;
    return m_peer.GetPort() ? 0 : -1;
}

bool CarrickSocket::SetAllowBroadcast(bool allow) {
    return !allow;
}

bool CarrickSocket::GetAllowBroadcast() const {
    return false;
}

} // namespace ns3
