// SPDX-License-Identifier: MIT
// A transfer, and all that observers of one field of the client's program see: `fields CONTEXT.FIELD`. Each change is a
// line of each observer. `value` has the signature of ns-3's TracedValue for the field's type, `path` too, by Config;
// `context` has the context first. `fields CONTEXT.FIELD wrong` connects a callback that fits no field.
#include <iostream>

#include "carrick-helper.h"
#include "example.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/sequence-number.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace {

template <typename T> void Value(T before, T now) {
    std::cout << "value " << +before << ' ' << +now << '\n';
}

template <typename T> void Path(std::string path, T before, T now) {
    std::cout << path << ' ' << +before << ' ' << +now << '\n';
}

// Types without numbers of their own.
template <typename T> struct Shown {
    static void Value(T before, T now) {
        std::cout << "value " << before << ' ' << now << '\n';
    }
    static void Path(std::string path, T before, T now) {
        std::cout << path << ' ' << before << ' ' << now << '\n';
    }
};

void Context(uint64_t, uint64_t before, uint64_t now) {
    std::cout << "context " << before << ' ' << now << '\n';
}

void Wrong(std::string) {}

void Observe(CarrickProtocol &protocol, const std::string &field, const CallbackBase &value, const CallbackBase &path) {
    protocol.TraceConnectWithoutContext(field, value);
    Config::Connect("/NodeList/0/$" + protocol.GetInstanceTypeId().GetName() + "/" + field, path);
    protocol.TraceConnectWithoutContext(field, MakeCallback(&Context));
}

// By the signature that the type of the protocol documents.
bool ObserveAs(const std::string &signature, CarrickProtocol &protocol, const std::string &field) {
    const std::string type = signature.substr(signature.rfind(':') + 1);
    if (type == "Bool") {
        Observe(protocol, field, MakeCallback(&Value<bool>), MakeCallback(&Path<bool>));
    } else if (type == "Uint8") {
        Observe(protocol, field, MakeCallback(&Value<uint8_t>), MakeCallback(&Path<uint8_t>));
    } else if (type == "Uint32") {
        Observe(protocol, field, MakeCallback(&Value<uint32_t>), MakeCallback(&Path<uint32_t>));
    } else if (type == "Uint64") {
        Observe(protocol, field, MakeCallback(&Value<uint64_t>), MakeCallback(&Path<uint64_t>));
    } else if (type == "Time") {
        Observe(protocol, field, MakeCallback(&Shown<Time>::Value), MakeCallback(&Shown<Time>::Path));
    } else if (type == "DataRate") {
        Observe(protocol, field, MakeCallback(&Shown<DataRate>::Value), MakeCallback(&Shown<DataRate>::Path));
    } else if (type == "SequenceNumber32") {
        Observe(protocol, field, MakeCallback(&Shown<SequenceNumber32>::Value),
                MakeCallback(&Shown<SequenceNumber32>::Path));
    } else {
        return false;
    }
    return true;
}

std::string Signature(const CarrickProtocol &protocol, const std::string &field) {
    const TypeId type = protocol.GetInstanceTypeId();
    for (size_t i = 0; i < type.GetTraceSourceN(); ++i) {
        if (type.GetTraceSource(i).name == field) {
            return type.GetTraceSource(i).callback;
        }
    }
    return "none";
}

} // namespace

int main(int argc, char **argv) {
    const std::string field = argc > 1 ? argv[1] : "";
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4Address address = addresses.Assign(ExampleLink().Install(nodes)).GetAddress(1);
    const CarrickHelper carrick(g_exampleProgram);
    carrick.Install(nodes.Get(1));
    Ptr<CarrickProtocol> client = carrick.Install(nodes.Get(0));
    if (argc > 2) {
        client->TraceConnectWithoutContext(field, MakeCallback(&Wrong));
    }
    const std::string signature = Signature(*client, field);
    std::cout << signature << '\n';
    if (!ObserveAs(signature, *client, field)) {
        std::cerr << "no observer for " << signature << '\n';
        return EXIT_FAILURE;
    }
    PacketSinkHelper(carrick.SocketFactory(), InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(nodes.Get(1));
    BulkSendHelper bulk(carrick.SocketFactory(), InetSocketAddress(address, 9));
    bulk.SetAttribute("MaxBytes", UintegerValue(100000));
    bulk.Install(nodes.Get(0));
    Simulator::Stop(Seconds(10));
    Simulator::Run();
    Simulator::Destroy();
    return EXIT_SUCCESS;
}
