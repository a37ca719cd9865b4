// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the snapshots of a circuit, and reports them as the trace records of other cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ports.h"

class Snapshots {
  public:
    Snapshots(carrick_trace_fn trace, void *user) : trace(trace), user(user) {}

    // Whether somebody reads records.
    bool wanted() const {
        return trace != nullptr;
    }

    // Takes a beat, the first byte in its lowest lane.
    void take(std::uint64_t beat, bool last) {
        for (unsigned lane = 0; lane < 8; lane++)
            frame.push_back(static_cast<std::uint8_t>(beat >> 8 * lane));
        if (!last)
            return;
        report();
        frame.clear();
    }

  private:
    using Words = std::vector<std::uint64_t>;

    // Positions in a frame, and bits of its flags.
    static constexpr unsigned flags_at = 15, chain_at_byte = 28;
    static constexpr unsigned has_context = 1, was_made = 2, has_ended = 4;
    // A handle: the context's number from 1 on, the generation, the slot.
    static constexpr unsigned context_bit = 56, generation_bit = 32;

    void report() {
        const unsigned flags = frame[flags_at];
        const EventWords &event = words_of_events[frame[chain_at_byte]];
        const std::size_t context = snapshot_head + snapshot_event;
        const Words id = read(words_of_id, context, snapshot_context);
        const bool before = (flags & has_context) && !(flags & was_made);
        Words words{before ? handle_of(id) : 0};
        append(words, read(event.words, snapshot_head, snapshot_event));
        say(CARRICK_TRACE_EVENT, event.number, words);
        if (!(flags & has_context))
            return;
        const std::uint64_t handle = handle_of(id);
        if (flags & has_ended) {
            say(CARRICK_TRACE_INSTR, CARRICK_INSTR_DEL_CTX, {handle});
            free_slots.push_back(static_cast<std::uint32_t>(handle));
            handles.erase(id);
            return;
        }
        words = {handle};
        append(words, read(words_of_context, context, snapshot_context));
        say(CARRICK_TRACE_CONTEXT, context_number, words);
    }

    // The handle of a flow; one that was not seen before is reported.
    std::uint64_t handle_of(const Words &id) {
        std::uint64_t &handle = handles[id];
        if (handle == 0) {
            handle = new_handle();
            Words words{context_number, handle};
            append(words, id);
            say(CARRICK_TRACE_INSTR, CARRICK_INSTR_NEW_CTX, words);
        }
        return handle;
    }

    void say(std::uint32_t kind, std::uint32_t number, const Words &words) const {
        trace(user, kind, number, words.data(), static_cast<std::uint32_t>(words.size()));
    }

    static void append(Words &to, const Words &from) {
        to.insert(to.end(), from.begin(), from.end());
    }

    // As other cores number instances: the slot that became free last, else the next one.
    std::uint64_t new_handle() {
        std::uint32_t slot = static_cast<std::uint32_t>(generations.size());
        if (free_slots.empty()) {
            generations.push_back(1);
        } else {
            slot = free_slots.back();
            free_slots.pop_back();
            generations[slot]++;
        }
        return std::uint64_t{context_number + 1} << context_bit | std::uint64_t{generations[slot]} << generation_bit |
               slot;
    }

    // The words of a value whose bytes are in the frame from `begin` on.
    Words read(Table table, std::size_t begin, std::size_t bytes) const {
        Words words;
        for (std::size_t at = 0; at < table.count;)
            at = read_one(table.words, at, begin + bytes, words);
        return words;
    }

    // Reads a word, of a list also its elements; where the next one is in the table.
    std::size_t read_one(const Word *table, std::size_t at, std::size_t end, Words &words) const {
        const Word &word = table[at++];
        const std::uint64_t value = bits(end, word);
        words.push_back(value);
        for (unsigned n = 0; n < (word.each ? word.most : 0); n++) {
            const std::size_t next = at + word.each;
            while (n < value && at < next)
                at = read_one(table, at, end, words);
            at = next;
        }
        return at;
    }

    // Bits of a number that ends before byte `end`.
    std::uint64_t bits(std::size_t end, const Word &word) const {
        std::uint64_t value = 0;
        for (unsigned bit = word.at; bit < word.at + word.bits; bit++)
            value |= std::uint64_t{frame[end - 1 - bit / 8] >> bit % 8 & 1U} << (bit - word.at);
        const bool negative = word.is_signed && value >> (word.bits - 1) & 1;
        return negative && word.bits < 64 ? value | ~std::uint64_t{0} << word.bits : value;
    }

    carrick_trace_fn trace;
    void *user;
    std::vector<std::uint8_t> frame;
    // by the words of its id, the handle of a flow; by slot, its generation
    std::map<Words, std::uint64_t> handles;
    std::vector<std::uint32_t> generations;
    std::vector<std::uint32_t> free_slots;
};
