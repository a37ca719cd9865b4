// SPDX-License-Identifier: MIT
// Puts clients and servers on nodes that have a program: CarrickServerHelper("ns3::Carrick...", port).Install(node) and
// CarrickClientHelper("ns3::Carrick...", InetSocketAddress(address, port)).Install(nodes).
#ifndef CARRICK_APPLICATION_HELPER_H
#define CARRICK_APPLICATION_HELPER_H

#include <string>

#include "ns3/address.h"
#include "ns3/application-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"

namespace ns3 {

// What both have. The interface of the program decides which class its applications have.
class CarrickApplicationHelper {
  public:
    // Sets an attribute of the applications that are installed after this.
    void SetAttribute(const std::string &name, const AttributeValue &value);

    ApplicationContainer Install(Ptr<Node> node) const;
    ApplicationContainer Install(const NodeContainer &nodes) const;
    ApplicationContainer Install(const std::string &nodeName) const;

  protected:
    // Of a program, by the type of its protocol; `client` or server.
    CarrickApplicationHelper(const std::string &type, bool client);

  private:
    ObjectFactory m_factory;
};

class CarrickClientHelper : public CarrickApplicationHelper {
  public:
    // Clients of the server at this address, an InetSocketAddress.
    CarrickClientHelper(const std::string &type, const Address &server);

    // Gives the random variables of the nodes' clients fixed streams, from this one on. Returns how many they have.
    static int64_t AssignStreams(const NodeContainer &nodes, int64_t stream);
};

class CarrickServerHelper : public CarrickApplicationHelper {
  public:
    CarrickServerHelper(const std::string &type, uint16_t port);
};

} // namespace ns3

#endif
