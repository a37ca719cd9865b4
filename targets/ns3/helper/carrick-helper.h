// SPDX-License-Identifier: MIT
// Puts a program on nodes: CarrickHelper("ns3::Carrick...").Install(nodes).
#ifndef CARRICK_HELPER_H
#define CARRICK_HELPER_H

#include <string>

#include "carrick-protocol.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

namespace ns3 {

class CarrickHelper {
  public:
    // The type is that of the program's protocol, as `carrick build` prints it.
    explicit CarrickHelper(const std::string &type);

    // Sets a parameter of the program, or an attribute of CarrickProtocol.
    void SetAttribute(const std::string &name, const AttributeValue &value);

    // Installs the program and its sockets on nodes that have IPv4. A protocol of ns-3's own of the same number goes.
    Ptr<CarrickProtocol> Install(Ptr<Node> node) const;
    void Install(const NodeContainer &nodes) const;

    // What the program is.
    const CarrickProgram &Program() const;
    // The name of the type that makes the program's sockets.
    std::string SocketFactory() const;

  private:
    ObjectFactory m_factory;
    std::string m_type;
};

} // namespace ns3

#endif
