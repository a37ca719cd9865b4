// SPDX-License-Identifier: MIT OR Apache-2.0
// What the calendar of a circuit has, as a process knows it that simulates the circuit: it lets the clock skip the
// moments in which no timer can fire. Which timers fire, the circuit decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

class Moments {
  public:
    // Notes what the circuit says before an edge of its clock.
    template <typename Top> void note(const Top &top) {
        if (top.set_valid)
            entries[top.set_moment] = top.set_wanted;
        if (top.cleared_valid)
            entries.erase(top.set_moment);
    }

    // A moment, and when the timer was wanted that the calendar has there.
    using Entry = std::pair<std::uint64_t, std::uint64_t>;

    // Takes the first entry up to the last one that was wanted by then: the calendar may have that one behind others
    // that are wanted later.
    std::optional<Entry> take(std::uint64_t by) {
        const auto due = [by](auto &entry) { return entry.second <= by; };
        if (std::none_of(entries.begin(), entries.end(), due))
            return {};
        const Entry first = *entries.begin();
        entries.erase(entries.begin());
        return first;
    }

    // When a timer is wanted next, or `none`.
    std::uint64_t next(std::uint64_t none) const {
        for (const auto &entry : entries)
            none = std::min(none, entry.second);
        return none;
    }

  private:
    // by moment: when it was wanted
    std::map<std::uint64_t, std::uint64_t> entries;
};
