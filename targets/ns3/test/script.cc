// SPDX-License-Identifier: MIT
#include "script.h"

#include <cstring>
#include <fstream>

#include "ns3/fatal-error.h"

namespace ns3 {

namespace {

class Reader {
  public:
    explicit Reader(const std::string &path) : m_path(path), m_file(path, std::ios::binary) {}

    uint64_t Word() {
        uint64_t word = 0;
        if (!m_file.read(reinterpret_cast<char *>(&word), sizeof word)) {
            NS_FATAL_ERROR("replay: " << m_path << " is no script of this version of carrick");
        }
        return word;
    }

    std::vector<uint64_t> Words() {
        std::vector<uint64_t> words(Word());
        for (uint64_t &word : words) {
            word = Word();
        }
        return words;
    }

    std::vector<uint8_t> Octets(uint64_t len) {
        std::vector<uint8_t> octets((len + 7) / 8 * 8);
        for (size_t i = 0; i < octets.size(); i += 8) {
            const uint64_t word = Word();
            std::memcpy(&octets[i], &word, sizeof word);
        }
        octets.resize(len);
        return octets;
    }

  private:
    std::string m_path;
    std::ifstream m_file;
};

ScriptAsk ReadAsk(Reader &reader) {
    ScriptAsk ask = {};
    ask.kind = static_cast<ScriptAsk::Kind>(reader.Word());
    if (ask.kind == ScriptAsk::WAKE) {
        ask.at = reader.Word();
    }
    if (ask.kind != ScriptAsk::CALL) {
        return ask;
    }
    ask.call = reader.Word();
    ask.handle = reader.Word();
    ask.token = reader.Word();
    ask.args = reader.Words();
    ask.data = static_cast<ScriptAsk::Data>(reader.Word());
    const uint64_t len = reader.Word();
    if (ask.data == ScriptAsk::RECV) {
        ask.octets.resize(len);
    } else {
        ask.octets = reader.Octets(len);
    }
    return ask;
}

} // namespace

Script ReadScript(const std::string &path) {
    Reader reader(path);
    Script script = {};
    for (ScriptHost &host : script.hosts) {
        host.seed = reader.Word();
        host.address = reader.Word();
        host.mtu = reader.Word();
        host.requests = reader.Word();
        host.params = reader.Words();
    }
    script.rateBps = reader.Word();
    script.delayNs = reader.Word();
    script.queuePackets = reader.Word();
    for (std::vector<ScriptFault> &faults : script.faults) {
        faults.resize(reader.Word());
        for (ScriptFault &fault : faults) {
            fault.packet = reader.Word();
            fault.late = reader.Word();
            fault.copy = reader.Word();
            fault.mtu = reader.Word();
        }
    }
    for (ScriptHost &host : script.hosts) {
        host.reactions.resize(reader.Word());
        for (std::vector<ScriptAsk> &asks : host.reactions) {
            asks.resize(reader.Word());
            for (ScriptAsk &ask : asks) {
                ask = ReadAsk(reader);
            }
        }
    }
    script.endNs = reader.Word();
    return script;
}

} // namespace ns3
