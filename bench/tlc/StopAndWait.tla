---------------------------- MODULE StopAndWait ----------------------------
(* SPDX-License-Identifier: MIT *)
(* protocols/stop-and-wait, as one would write it for a model checker: what `carrick verify --peers` explores of the program itself, with
   the same channel and the same faults. A message is its number; time passes only when nothing is on its way. *)
EXTENDS Naturals, Sequences

CONSTANTS Messages, Lose, Duplicate, Reorder, ResendsMax

VARIABLES number, resends, expected, got, failed, toServer, toClient, lose, duplicate, reorder

vars == <<number, resends, expected, got, failed, toServer, toClient, lose, duplicate, reorder>>

Init ==
    /\ number = 1 /\ resends = 0 /\ expected = 1 /\ got = <<>> /\ failed = {}
    /\ toServer = <<1>> /\ toClient = <<>>
    /\ lose = Lose /\ duplicate = Duplicate /\ reorder = Reorder

Without(way, i) == SubSeq(way, 1, i - 1) \o SubSeq(way, i + 1, Len(way))

\* The next message is sent, if there is one.
Next1(way, n) == IF n <= Messages THEN Append(way, n) ELSE way

\* A packet with this number arrives at the server.
AtServer(n) ==
    LET new == IF n > expected THEN n ELSE expected IN
    /\ expected' = IF n = new THEN new + 1 ELSE new
    /\ got' = IF n = new THEN Append(got, n) ELSE got
    /\ toClient' = Append(toClient, expected')

\* An acknowledgement arrives at the client.
AtClient(n, way) ==
    IF n = number + 1 /\ number <= Messages
    THEN /\ number' = number + 1 /\ resends' = 0
         /\ toServer' = Next1(way, number + 1)
    ELSE /\ toServer' = way /\ UNCHANGED <<number, resends>>

DeliverToServer(i) ==
    /\ i = 1 \/ reorder > 0
    /\ reorder' = IF i = 1 THEN reorder ELSE reorder - 1
    /\ toServer' = Without(toServer, i)
    /\ AtServer(toServer[i])
    /\ UNCHANGED <<number, resends, failed, lose, duplicate>>

DeliverToClient(i) ==
    /\ i = 1 \/ reorder > 0
    /\ reorder' = IF i = 1 THEN reorder ELSE reorder - 1
    /\ toClient' = Without(toClient, i)
    /\ AtClient(toClient[i], toServer)
    /\ UNCHANGED <<expected, got, failed, lose, duplicate>>

LoseToServer ==
    /\ toServer # <<>> /\ lose > 0
    /\ toServer' = Tail(toServer) /\ lose' = lose - 1
    /\ UNCHANGED <<number, resends, expected, got, failed, toClient, duplicate, reorder>>

LoseToClient ==
    /\ toClient # <<>> /\ lose > 0
    /\ toClient' = Tail(toClient) /\ lose' = lose - 1
    /\ UNCHANGED <<number, resends, expected, got, failed, toServer, duplicate, reorder>>

DuplicateToServer(i) ==
    /\ duplicate > 0 /\ (i = 1 \/ reorder > 0)
    /\ duplicate' = duplicate - 1
    /\ reorder' = IF i = 1 THEN reorder ELSE reorder - 1
    /\ AtServer(toServer[i])
    /\ UNCHANGED <<number, resends, failed, toServer, lose>>

DuplicateToClient(i) ==
    /\ duplicate > 0 /\ (i = 1 \/ reorder > 0)
    /\ duplicate' = duplicate - 1
    /\ reorder' = IF i = 1 THEN reorder ELSE reorder - 1
    /\ AtClient(toClient[i], toServer)
    /\ UNCHANGED <<expected, got, failed, toClient, lose>>

Overdue ==
    /\ toServer = <<>> /\ toClient = <<>> /\ number <= Messages
    /\ IF resends < ResendsMax
       THEN /\ resends' = resends + 1 /\ toServer' = <<number>>
            /\ UNCHANGED <<number, failed>>
       ELSE /\ resends' = 0 /\ failed' = failed \union {number} /\ number' = number + 1
            /\ toServer' = Next1(<<>>, number + 1)
    /\ UNCHANGED <<expected, got, toClient, lose, duplicate, reorder>>

\* All is over: no deadlock.
Over ==
    /\ toServer = <<>> /\ toClient = <<>> /\ number > Messages
    /\ UNCHANGED vars

Next ==
    \/ \E i \in 1..Len(toServer): DeliverToServer(i) \/ DuplicateToServer(i)
    \/ \E i \in 1..Len(toClient): DeliverToClient(i) \/ DuplicateToClient(i)
    \/ LoseToServer \/ LoseToClient \/ Overdue \/ Over

Spec == Init /\ [][Next]_vars

\* Each message at most once, and in its turn.
InTurn == \A i \in 1..(Len(got) - 1): got[i] < got[i + 1]
\* Whoever heard that a message has arrived was told the truth.
Arrived == \A n \in 1..(number - 1): n \in failed \/ \E i \in 1..Len(got): got[i] = n
=============================================================================
