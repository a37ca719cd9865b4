// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of a cgroup, whose connections are a stack's though they share its namespace with others.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use carrick_tests::net::{DEVICE, End, Net, lacks};
use carrick_tests::running::{Running, serve};

use super::namespaces::{
    behaves, built, connected_in, echoes_both_ways, ends_with_its_space, left_without_a_stack,
    programs_behave, programs_behave_by_the_kernel, programs_behave_over_ipv6, refused,
};
use super::setting::{PATIENCE, Stack};
use super::space::Space;

/// What a program says at its end.
fn said(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn programs_in_it_behave_alike() {
    programs_behave(Space::cgroup);
}

#[test]
fn programs_in_it_behave_alike_by_the_kernel() {
    programs_behave_by_the_kernel(Space::cgroup);
}

#[test]
fn programs_in_it_behave_alike_over_ipv6() {
    programs_behave_over_ipv6(Space::cgroup);
}

/// All programs of the machine would lose their connections.
#[test]
fn the_root_of_all_cgroups_is_not_served() {
    let Some(net) = Net::new() else { return };
    let Some(space) = Space::cgroup(&net) else { return };
    let argument = space.argument();
    let (_, group) = argument.split_once('=').expect("it names its cgroup");
    let root = Path::new(group).parent().expect("it is below the root").display();
    let said = refused(&net, &format!("sockets:cgroup={root}"));
    assert!(said.contains(&format!("`{root}`: it is the root of all cgroups, and all programs")), "{said}");
}

#[test]
fn a_program_of_go_is_served() {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(program) = built("go", &["build"], "echo.go", dir.path()) else { return };
    let Some(net) = Net::new() else { return };
    if let Some(space) = Space::cgroup(&net) {
        echoes_both_ways(&program, &net, space);
    }
}

const CONNECT: &str = "
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
    print(s.getsockname()[0], s.recv(100).decode())
except OSError as e:
    print(type(e).__name__)
";

/// Says its own words to each who comes.
const SAY: &str = "
import socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen(8)
print('bound to', s.getsockname()[0], flush=True)
while True:
    c, _ = s.accept()
    c.sendall(sys.argv[3].encode())
    c.close()
";

fn connect(mut command: Command, address: &str, port: u16) -> String {
    said(command.args(["-c", CONNECT, address, &port.to_string()]))
}

fn say(mut command: Command, at: &str, port: u16, words: &str) -> Running {
    serve(command.args(["-u", "-c", SAY, at, &port.to_string(), words]), &format!("bound to {at}"))
}

/// Asks until the stack knows that there is one who listens, which is a moment after it does.
fn connect_in_time(command: impl Fn() -> Command, address: &str, port: u16) -> String {
    let begin = Instant::now();
    loop {
        let said = connect(command(), address, port);
        if said != "ConnectionRefusedError\n" || begin.elapsed() > PATIENCE {
            return said;
        }
    }
}

/// The other address that the machine has, beside the stack's.
const ELSE: &str = "10.77.0.9";

/// The machine's own hosts are near, and so is what runs outside of the cgroup.
#[test]
fn only_what_is_in_it_is_the_stacks() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    net.ip(End::Ours, &format!("addr add {ELSE}/24 dev {DEVICE}")).expect("root may");
    let Some(space) = Space::cgroup(&net) else { return };
    let stack = Stack::start_serving(&net, space, "", &[]);
    let inside = || stack.command(&net, "python3");
    let outside = || net.command(End::Ours, "python3");
    let far = || net.command(End::Peer, "python3");
    let _peer = say(far(), "0.0.0.0", 7000, "peer");
    assert_eq!(connect(inside(), Net::PEER, 7000), format!("{} peer\n", Net::OURS));
    assert_eq!(connect(outside(), Net::PEER, 7000), format!("{ELSE} peer\n"));
    // A socket of IPv6 that connects to an address of IPv4.
    let mapped = |address: &str| format!("::ffff:{address}");
    assert_eq!(connect(inside(), &mapped(Net::PEER), 7000), format!("{} peer\n", mapped(Net::OURS)));

    let _outside = say(outside(), "0.0.0.0", 7001, "outside");
    assert_eq!(connect(far(), ELSE, 7001), format!("{} outside\n", Net::PEER));
    assert_eq!(connect(far(), Net::OURS, 7001), "ConnectionRefusedError\n");
    for near in ["127.0.0.1", ELSE] {
        assert_eq!(connect(inside(), near, 7001), format!("{near} outside\n"));
    }

    let _inside = say(inside(), "0.0.0.0", 7002, "inside");
    assert_eq!(connect_in_time(far, Net::OURS, 7002), format!("{} inside\n", Net::PEER));
    assert_eq!(connect(far(), ELSE, 7002), format!("{} inside\n", Net::PEER));
    assert_eq!(connect(outside(), "127.0.0.1", 7002), "127.0.0.1 inside\n");
    assert_eq!(connect(outside(), Net::OURS, 7002), format!("{} inside\n", Net::OURS));

    let _own = say(inside(), Net::OURS, 7003, "own");
    let _mapped = say(inside(), &mapped(Net::OURS), 7004, "mapped");
    for (port, words) in [(7003, "own"), (7004, "mapped")] {
        assert_eq!(connect_in_time(far, Net::OURS, port), format!("{} {words}\n", Net::PEER));
        assert_eq!(connect(far(), ELSE, port), "ConnectionRefusedError\n");
    }
    stack.end();
}

/// Two stacks, of two addresses, and a cgroup of each.
#[test]
fn a_machine_may_have_several() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let _peer = say(net.command(End::Peer, "python3"), "0.0.0.0", 7000, "peer");
    let mut stacks = Vec::new();
    for address in ["10.77.0.5", "10.77.0.6"] {
        let Some(space) = Space::cgroup(&net) else { return };
        let stack = Stack::start_serving_at(&net, address, space, "", &[]);
        stacks.push((address, stack));
    }
    for (address, stack) in &stacks {
        assert_eq!(connect(stack.command(&net, "python3"), Net::PEER, 7000), format!("{address} peer\n"));
    }
    let (_, first) = stacks.remove(0);
    first.end();
    let (address, second) = stacks.remove(0);
    assert_eq!(connect(second.command(&net, "python3"), Net::PEER, 7000), format!("{address} peer\n"));
    second.end();
}

/// What the kernel has of such stacks: rules, addresses and filters.
fn kept(net: &Net) -> String {
    ["ip rule", "ip addr show dev lo", "ip route show table all", "tc qdisc show dev lo"]
        .map(|asked| {
            let words: Vec<&str> = asked.split(' ').collect();
            said(net.command(End::Ours, words[0]).args(&words[1..]))
        })
        .concat()
}

#[test]
fn nothing_of_it_is_left() {
    let Some(net) = Net::new() else { return };
    let before = kept(&net);
    let Some(space) = Space::cgroup(&net) else { return };
    let stack = Stack::start_serving(&net, space, "", &[]);
    assert_ne!(kept(&net), before);
    stack.end();
    let begin = Instant::now();
    while kept(&net) != before {
        assert!(begin.elapsed() < PATIENCE, "{}", kept(&net));
    }
}

#[test]
fn a_stack_that_is_killed_leaves_nothing_that_waits() {
    let Some((net, stack, _peer)) = connected_in(Space::cgroup, &[]) else { return };
    let before = kept(&net);
    let space = left_without_a_stack(&net, stack);
    let begin = Instant::now();
    while kept(&net) == before {
        assert!(begin.elapsed() < PATIENCE, "the machine's routes are not given back");
    }
    // The next one does not wait for anything that the last one did.
    let next = Stack::start_serving(&net, space, "", &[]);
    behaves(next.command(&net, "python3"));
    next.end();
}

#[test]
fn a_stack_whose_cgroup_is_removed_ends_with_a_sentence() {
    ends_with_its_space(Space::cgroup);
}

#[test]
fn what_is_no_cgroup_is_named() {
    let Some(net) = Net::new() else { return };
    let said = refused(&net, "sockets:cgroup=/nowhere/at/all");
    assert!(said.contains("its folder: No such file or directory. Make one: `mkdir"), "{said}");
    let said = refused(&net, "sockets:cgroup=/proc");
    assert!(said.contains("`/proc`: a folder that is no cgroup of version 2"), "{said}");
}

#[test]
fn a_cgroup_is_one_stacks() {
    let Some(net) = Net::new() else { return };
    let Some(space) = Space::cgroup(&net) else { return };
    let app = format!("sockets:{}", space.argument());
    let stack = Stack::start_serving_at(&net, "10.77.0.5", space, "", &[]);
    let said = refused(&net, &app);
    assert!(said.contains("another stack serves it"), "{said}");
    stack.end();
}
