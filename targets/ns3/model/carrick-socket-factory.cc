// SPDX-License-Identifier: MIT
#include "carrick-socket-factory.h"

#include "carrick-socket.h"

namespace ns3 {

TypeId CarrickSocketFactory::GetTypeId() {
    static TypeId type = TypeId("ns3::CarrickSocketFactory").SetParent<SocketFactory>().SetGroupName("Carrick");
    return type;
}

void CarrickSocketFactory::SetProtocol(Ptr<CarrickProtocol> protocol) {
    m_protocol = protocol;
}

Ptr<Socket> CarrickSocketFactory::CreateSocket() {
    const carrick_program &program = *m_protocol->Program().plain;
    if (!CarrickSocket::Speaks(program)) {
        const char *interface = program.interface_name ? program.interface_name : "none";
        NS_FATAL_ERROR(
            "carrick: "
            << program.name << " has no sockets, as its interface is "
            << interface << ": use CarrickClientHelper and CarrickServerHelper (rpc, multistream, verbs) or CarrickCall; "
            << "sockets need the interface stream or message");
    }
    Ptr<CarrickSocket> socket = CreateObject<CarrickSocket>();
    socket->SetProtocol(m_protocol);
    return socket;
}

void CarrickSocketFactory::DoDispose() {
    m_protocol = nullptr;
    SocketFactory::DoDispose();
}

} // namespace ns3
