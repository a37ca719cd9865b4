# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program that is driven step by step, by examples and by Hypothesis."""

import pytest
from hypothesis import given, settings, strategies

import carrick as ck

PROGRAM = ck.program("stop-and-wait")
ENDS = ("10.0.0.1", "10.0.0.2")
MS = 1_000_000


def opened(side, **options):
    """One end of a conversation, and its context."""
    core = PROGRAM.core(ENDS[side], **options)
    ports = {"local_port": 5000 + side, "remote_port": 5000 + (1 - side)}
    token = core.call("open", local_ip=ENDS[side], remote_ip=ENDS[1 - side], **ports)
    [done] = core.completions()
    assert (done.token, done.status) == (token, "OK")
    [context] = core.contexts
    assert context.handle == done.value
    return core, context


def test_a_message_arrives():
    (sender, out), (receiver, into) = opened(0), opened(1)
    sent = sender.call("send", context=out, data=b"hello", len=5)
    [packet] = sender.packets()
    wanted = receiver.call("recv", context=into.handle, space=100, len=100)
    assert receiver.rx(packet, now=1 * MS) is None
    [delivered] = receiver.completions()
    assert (delivered.token, delivered.status, delivered.data) == (wanted, "OK", b"hello")
    [answer] = receiver.packets(now=1 * MS)
    assert sender.rx(answer, now=2 * MS) is None
    [done] = sender.completions()
    assert (done.token, done.status, done.value) == (sent, "OK", 5)
    assert sender.deadline is None
    assert sender.contexts[0]["resends"] == 0


def test_time_is_given():
    sender, out = opened(0, set={"resend_after": "20ms"})
    sender.call("send", context=out, data=b"x", len=1)
    [first] = sender.packets()
    assert sender.deadline == 20 * MS
    sender.advance(now=19 * MS)
    assert sender.packets(now=19 * MS) == []
    sender.advance(now=20 * MS)
    [again] = sender.packets(now=20 * MS)
    assert again[-1:] == first[-1:] == b"x"
    assert "overdue" in [record["detail"]["name"] for record in sender.records() if record["what"] == "event"]


def test_a_bad_packet_is_counted():
    sender, out = opened(0)
    sender.call("send", context=out, data=b"hello", len=5)
    packet = bytearray(sender.tx())
    packet[-1] ^= 1
    receiver, _ = opened(1)
    reason = receiver.rx(packet, now=MS)
    assert reason is not None and receiver.counters[reason] == 1


@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("sned", {}, "has no call sned; it has open, send, recv, close"),
        ("send", {"len": 1, "data": b"x"}, "works on a context"),
        ("close", {"context": 1, "data": b"x"}, "close takes no memory"),
        ("open", {"local_ip": ENDS[0]}, "open needs local_ip, local_port"),
        ("close", {"context": 1, "why": 1}, "close has no field why; it has none"),
        ("recv", {"context": 1, "len": "many", "space": 5}, "'many'|\"many\""),
        ("recv", {"context": 1, "len": 5, "space": 5, "data": b""}, "not both"),
    ],
)
def test_what_is_wrong_is_an_exception(name, more, why):
    core = PROGRAM.core(ENDS[0])
    with pytest.raises(ck.OptionError, match=why):
        core.call(name, **more)


def test_options_are_those_of_a_core():
    with pytest.raises(ck.OptionError, match=r"core\(\) does not take loss"):
        PROGRAM.core(loss="1%")
    with pytest.raises(ck.OptionError, match="IPv4"):
        PROGRAM.core("2001:db8::1")
    with pytest.raises(ck.OptionError, match="resend_after"):
        PROGRAM.core(set={"resend_aftr": "1ms"})


@settings(deadline=None)
@given(strategies.binary(max_size=200))
def test_no_packet_is_too_strange(packet):
    core, _ = opened(0)
    core.rx(packet, now=MS)
    core.packets(now=MS)
    assert "claims_failed" not in core.counters


@settings(deadline=None)
@given(strategies.lists(strategies.binary(min_size=1, max_size=50), max_size=6), strategies.lists(strategies.booleans(), max_size=60))
def test_messages_arrive_once_and_in_their_order(messages, losses):
    """Whatever is lost: after the losses that Hypothesis draws, the network is good."""
    (sender, out), (receiver, into) = opened(0), opened(1)
    tokens = [sender.call("send", context=out, data=message, len=len(message)) for message in messages]
    lost, received, ended, now = iter(losses), [], [], 0
    receiver.call("recv", context=into, space=100, len=100)
    while len(ended) < len(messages):
        for packet in sender.packets(now):
            if not next(lost, False):
                receiver.rx(packet, now)
        for done in receiver.completions():
            received.append(done.data)
            receiver.call("recv", now, context=into, space=100, len=100)
        for packet in receiver.packets(now):
            if not next(lost, False):
                sender.rx(packet, now)
        ended += sender.completions()
        if (deadline := sender.deadline) is not None:
            now = deadline
            sender.advance(now)
    # A message is given up after ten losses in a row, and may have arrived.
    assert [done.token for done in ended] == tokens
    certain = [message for message, done in zip(messages, ended) if done.status == "OK"]
    rest = iter(received)
    assert all(message in rest for message in certain)
    assert len(received) <= len(messages)
