// SPDX-License-Identifier: MIT
// What the examples share: which program they run, a link, and what they write.
#ifndef CARRICK_EXAMPLE_H
#define CARRICK_EXAMPLE_H

#include <cstdio>
#include <cstring>
#include <string>

#include "carrick-protocol.h"
#include "ns3/callback.h"
#include "ns3/command-line.h"
#include "ns3/error-model.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

// The type of the program's protocol. CMake links it to each example, so that examples are compiled without the
// program.
extern const char *const g_exampleProgram;

struct ExampleLink {
    std::string rate = "100Mbps", delay = "5ms", pcap;
    double loss = 0;

    void AddOptions(ns3::CommandLine &command) {
        command.AddValue("rate", "link rate", rate);
        command.AddValue("delay", "link delay", delay);
        command.AddValue("loss", "share of packets lost in each direction", loss);
        command.AddValue("pcap", "beginning of the names of captures, one for each device; default: none", pcap);
    }

    ns3::NetDeviceContainer Install(const ns3::NodeContainer &nodes) const {
        ns3::PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", ns3::StringValue(rate));
        link.SetChannelAttribute("Delay", ns3::StringValue(delay));
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("250p"));
        ns3::NetDeviceContainer devices = link.Install(nodes);
        if (!pcap.empty()) {
            link.EnablePcap(pcap, devices);
        }
        for (uint32_t i = 0; loss > 0 && i < devices.GetN(); ++i) {
            ns3::Ptr<ns3::RateErrorModel> errors = ns3::CreateObject<ns3::RateErrorModel>();
            errors->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            devices.Get(i)->SetAttribute("ReceiveErrorModel", ns3::PointerValue(errors));
        }
        return devices;
    }
};

// How many bytes an application of ns-3 writes at a time. Such an application does not ask why a write fails, and
// writes no more: here this is an error, and ends the simulation.
struct ExampleWrites {
    uint32_t size = 0;

    void AddOptions(ns3::CommandLine &command) {
        command.AddValue("write", "bytes of each write; default: 16384, for messages and OnOff 1000", size);
    }

    // A stream takes any write. A message of some programs must fit into one packet.
    uint32_t Size(const ns3::CarrickProgram &program, bool steady = false) const {
        const char *interface = program.plain->interface_name;
        const bool messages = interface && std::strcmp(interface, "message") == 0;
        return size > 0 ? size : messages || steady ? 1000 : 16384;
    }

    static void Observe(ns3::Ptr<ns3::CarrickProtocol> protocol) {
        protocol->TraceConnectWithoutContext("SendError", ns3::MakeCallback(&ExampleWrites::Failed));
    }

    static bool HaveFailed() {
        return s_failed;
    }

  private:
    static void Failed(uint32_t size, const std::string &reason) {
        std::fprintf(stderr, "%.9f a write of %u bytes failed: %s. --write=BYTES sets the size of writes\n",
                     ns3::Simulator::Now().GetSeconds(), size, reason.c_str());
        s_failed = true;
        ns3::Simulator::Stop();
    }

    static inline bool s_failed = false;
};

#endif
