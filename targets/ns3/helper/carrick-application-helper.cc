// SPDX-License-Identifier: MIT
#include "carrick-application-helper.h"

#include "carrick-helper.h"
#include "carrick-multistream.h"
#include "carrick-rpc.h"
#include "carrick-verbs.h"
#include "ns3/names.h"
#include "ns3/uinteger.h"

namespace ns3 {

namespace {

// The class of a program's applications.
TypeId ClassOf(const std::string &type, bool client) {
    const carrick_program &program = *CarrickHelper(type).Program().plain;
    const std::string interface = program.interface_name ? program.interface_name : "none";
    if (interface == "rpc") {
        return client ? CarrickRpcClient::GetTypeId() : CarrickRpcServer::GetTypeId();
    }
    if (interface == "multistream") {
        return client ? CarrickMultistreamClient::GetTypeId() : CarrickMultistreamServer::GetTypeId();
    }
    if (interface == "verbs") {
        return client ? CarrickVerbsClient::GetTypeId() : CarrickVerbsServer::GetTypeId();
    }
    NS_FATAL_ERROR("carrick: " << program.name << " has no clients and servers, as its interface is " << interface
                               << ": use applications of ns-3 with CarrickHelper::SocketFactory(); clients and "
                                  "servers need the interface rpc, multistream or verbs");
}

} // namespace

CarrickApplicationHelper::CarrickApplicationHelper(const std::string &type, bool client) {
    m_factory.SetTypeId(ClassOf(type, client));
    SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName(type)));
}

void CarrickApplicationHelper::SetAttribute(const std::string &name, const AttributeValue &value) {
    m_factory.Set(name, value);
}

ApplicationContainer CarrickApplicationHelper::Install(Ptr<Node> node) const {
    Ptr<Application> application = m_factory.Create<Application>();
    node->AddApplication(application);
    return ApplicationContainer(application);
}

ApplicationContainer CarrickApplicationHelper::Install(const NodeContainer &nodes) const {
    ApplicationContainer applications;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node) {
        applications.Add(Install(*node));
    }
    return applications;
}

ApplicationContainer CarrickApplicationHelper::Install(const std::string &nodeName) const {
    return Install(Names::Find<Node>(nodeName));
}

CarrickClientHelper::CarrickClientHelper(const std::string &type, const Address &server)
    : CarrickApplicationHelper(type, true) {
    SetAttribute("Remote", AddressValue(server));
}

int64_t CarrickClientHelper::AssignStreams(const NodeContainer &nodes, int64_t stream) {
    int64_t used = 0;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node) {
        for (uint32_t i = 0; i < (*node)->GetNApplications(); ++i) {
            if (Ptr<CarrickClient> client = DynamicCast<CarrickClient>((*node)->GetApplication(i))) {
                used += client->AssignStreams(stream + used);
            }
        }
    }
    return used;
}

CarrickServerHelper::CarrickServerHelper(const std::string &type, uint16_t port)
    : CarrickApplicationHelper(type, false) {
    SetAttribute("Port", UintegerValue(port));
}

} // namespace ns3
