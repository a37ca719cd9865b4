// SPDX-License-Identifier: MIT OR Apache-2.0
// The session table against a map: random entries are added, looked up, written and removed, until it is full and
// beyond.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

#include "Vlooked.h"
#include "clocked.h"

namespace {

// An entry is its id and a value of 32 bits each, in 4 x 64 rows.
constexpr std::size_t rows = 256;
constexpr long patience = 1000;

struct Found {
    bool there;
    unsigned slot;
    std::uint32_t value;
};

class Table {
  public:
    Table() {
        reset(module);
        while (!module.ready)
            edge(module);
    }

    Found look(std::uint32_t id) {
        module.look_id = id;
        const Found found = looked();
        if (found.there)
            CHECK(module.seen_entry >> 32 == id);
        return found;
    }

    // What is in a slot, whatever its id.
    Found look_at(unsigned slot) {
        module.look_slot = 1;
        module.look_table = slot / (rows / 4);
        module.look_row = slot % (rows / 4);
        const Found found = looked();
        module.look_slot = 0;
        return found;
    }

    void write(unsigned slot, bool used, std::uint32_t id, std::uint32_t value) {
        module.write = 1;
        module.write_used = used;
        module.write_slot = slot;
        module.write_entry = std::uint64_t{id} << 32 | value;
        edge(module);
        module.write = 0;
    }

    // Whether there was a row for it; how many cycles that took. It must be new, or be there already.
    bool add(std::uint32_t id, std::uint32_t value, long &cycles, bool is_new = true) {
        module.add = 1;
        module.add_entry = std::uint64_t{id} << 32 | value;
        for (cycles = 1; cycles < patience; cycles++) {
            settle(module);
            const bool added = module.added;
            const bool full = module.added_full;
            CHECK(!added || full || module.added_new == is_new);
            edge(module);
            if (added) {
                module.add = 0;
                return !full;
            }
        }
        CHECK(!"it answers");
        return false;
    }

  private:
    Found looked() {
        module.look = 1;
        edge(module);
        module.look = 0;
        edge(module);
        CHECK(module.seen);
        return {module.seen_found != 0, module.seen_slot, static_cast<std::uint32_t>(module.seen_entry)};
    }

    Vlooked module;
};

void all_there(Table &table, const std::map<std::uint32_t, std::uint32_t> &model) {
    for (const auto &[id, value] : model) {
        const Found found = table.look(id);
        CHECK(found.there && found.value == value);
        const Found again = table.look_at(found.slot);
        CHECK(again.there && again.slot == found.slot && again.value == value);
    }
    std::size_t used = 0;
    for (unsigned slot = 0; slot < rows; slot++)
        used += table.look_at(slot).there;
    CHECK(used == model.size());
}

} // namespace

int main() {
    Table table;
    std::mt19937 random(1);
    std::map<std::uint32_t, std::uint32_t> model;
    std::size_t most = 0;
    std::size_t first_full = 0;
    unsigned full = 0;
    long longest = 0;
    // Ids are near each other, as addresses of one network are.
    for (int step = 0; step < 20'000; step++) {
        const std::uint32_t id = 0x0a000000 + random() % 400;
        const std::uint32_t value = random();
        const Found found = table.look(id);
        const auto known = model.find(id);
        CHECK(found.there == (known != model.end()));
        if (found.there) {
            CHECK(found.value == known->second);
            // It is full for a while, and then has few entries, again and again.
            const bool remove = random() % 16 < (step / 2000 % 2 ? 12 : 1);
            table.write(found.slot, !remove, id, value);
            if (remove)
                model.erase(known);
            else
                known->second = value;
            continue;
        }
        long cycles = 0;
        if (table.add(id, value, cycles)) {
            model[id] = value;
            most = std::max(most, model.size());
            longest = std::max(longest, cycles);
            // What is there already is not added again.
            CHECK(table.add(id, ~value, cycles, false));
        } else {
            if (full++ == 0)
                first_full = model.size();
        }
        if (step % 500 == 0 || cycles > 100)
            all_there(table, model);
    }
    all_there(table, model);
    CHECK(full > 0 && first_full > rows * 9 / 10 && most <= rows);
    std::printf(
        "session_table: full at %zu of %zu entries first, at most %zu; an entry is added in at most %ld cycles\n",
        first_full, rows, most, longest);
    return 0;
}
