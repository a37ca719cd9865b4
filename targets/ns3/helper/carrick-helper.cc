// SPDX-License-Identifier: MIT
#include "carrick-helper.h"

#include "carrick-socket-factory.h"

namespace ns3 {

CarrickHelper::CarrickHelper(const std::string &type) : m_type(type) {
    TypeId found;
    if (!TypeId::LookupByNameFailSafe(type, &found)) {
        NS_FATAL_ERROR("carrick: there is no program of the type " << type << ": link the library that `carrick build "
                                                                   << "--target ns3` made of it");
    }
    m_factory.SetTypeId(found);
}

void CarrickHelper::SetAttribute(const std::string &name, const AttributeValue &value) {
    m_factory.Set(name, value);
}

std::string CarrickHelper::SocketFactory() const {
    return m_type + "SocketFactory";
}

const CarrickProgram &CarrickHelper::Program() const {
    return m_factory.Create<CarrickProtocol>()->Program();
}

Ptr<CarrickProtocol> CarrickHelper::Install(Ptr<Node> node) const {
    Ptr<CarrickProtocol> protocol = m_factory.Create<CarrickProtocol>();
    protocol->Install(node);
    ObjectFactory sockets;
    sockets.SetTypeId(SocketFactory());
    Ptr<CarrickSocketFactory> factory = sockets.Create<CarrickSocketFactory>();
    factory->SetProtocol(protocol);
    node->AggregateObject(factory);
    return protocol;
}

void CarrickHelper::Install(const NodeContainer &nodes) const {
    for (auto node = nodes.Begin(); node != nodes.End(); ++node) {
        Install(*node);
    }
}

} // namespace ns3
