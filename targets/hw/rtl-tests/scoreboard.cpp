// SPDX-License-Identifier: MIT OR Apache-2.0
// The scoreboard against a list of the events under way: flows are held, slots follow the entries that the session
// table moves.
#include <deque>
#include <random>

#include "Vscoreboard.h"
#include "clocked.h"

namespace {

constexpr std::size_t depth = 16;
constexpr unsigned slots = 32;
// A slot that is no slot: the entry is in the session table's hand.
constexpr unsigned hand = slots;

struct UnderWay {
    unsigned tag;
    bool named, space, located, found;
    unsigned slot;
};

bool holds(const std::deque<UnderWay> &all, unsigned tag, bool named) {
    for (const UnderWay &one : all)
        if (named && one.named && one.tag == tag)
            return true;
    return all.size() == depth;
}

// The session table exchanges its hand with slots until it comes by a free one; events that found an entry follow it.
void move(Vscoreboard &board, std::deque<UnderWay> &all, std::mt19937 &random) {
    board.enter = board.locate = board.leave = 0;
    board.swap = 1;
    for (bool in_hand = true; in_hand;) {
        const unsigned slot = random() % slots;
        board.swap_slot = slot;
        in_hand = false;
        for (UnderWay &one : all) {
            if (!one.located || !one.found)
                continue;
            one.slot = one.slot == hand ? slot : one.slot == slot ? hand : one.slot;
            in_hand |= one.slot == hand;
        }
        edge(board);
    }
    board.swap = 0;
}

} // namespace

int main() {
    Vscoreboard board;
    reset(board);
    std::mt19937 random(1);
    std::deque<UnderWay> all;
    unsigned held = 0;
    unsigned moved = 0;
    for (int cycle = 0; cycle < 50'000; cycle++) {
        board.enter_tag = random() % 24;
        board.enter_named = random() % 8 != 0;
        board.enter_space = random() % 2;
        settle(board);
        CHECK(board.held == holds(all, board.enter_tag, board.enter_named));
        CHECK(board.empty == all.empty());
        board.enter = !board.held && random() % 4 != 0;
        held += board.held;
        std::size_t next = 0;
        while (next < all.size() && all[next].located)
            next++;
        board.locate = next < all.size() && random() % 2;
        board.locate_found = random() % 2;
        board.locate_slot = random() % slots;
        board.leave = next > 0 && random() % 3 == 0;
        settle(board);
        if (next > 0) {
            CHECK(board.oldest_found == all[0].found && board.oldest_space == all[0].space);
            CHECK(!all[0].found || board.oldest_slot == all[0].slot);
        }
        edge(board);
        if (board.locate) {
            all[next].located = true;
            all[next].found = board.locate_found;
            all[next].slot = board.locate_slot;
        }
        if (board.enter)
            all.push_back({board.enter_tag, board.enter_named != 0, board.enter_space != 0, false, false, 0});
        if (board.leave)
            all.pop_front();
        if (random() % 16 == 0) {
            move(board, all, random);
            moved++;
        }
    }
    CHECK(held > 1000 && moved > 1000);
    return 0;
}
