// SPDX-License-Identifier: MIT
// Mistakes of a simulation's author, one for each argument: each ends the process with a sentence that says what to do.
#include <cstdio>
#include <string>

#include "carrick-application-helper.h"
#include "carrick-helper.h"
#include "example.h"
#include "ns3/internet-stack-helper.h"

using namespace ns3;

int main(int argc, char **argv) {
    const std::string mistake = argc > 1 ? argv[1] : "";
    if (mistake == "no-program") {
        const CarrickHelper nothing("ns3::CarrickNothing");
        return EXIT_SUCCESS;
    }
    NodeContainer nodes(1);
    if (mistake != "no-ipv4") {
        InternetStackHelper().Install(nodes);
    }
    const CarrickHelper carrick(g_exampleProgram);
    if (mistake == "no-clients") {
        const CarrickServerHelper none(g_exampleProgram, 9);
    }
    Ptr<CarrickProtocol> protocol = carrick.Install(nodes.Get(0));
    if (mistake == "twice") {
        carrick.Install(nodes);
    }
    if (mistake == "no-address") {
        protocol->Core();
    }
    std::fprintf(stderr, "usage: refuse no-program|no-ipv4|no-clients|twice|no-address\n");
    return EXIT_SUCCESS;
}
