// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is under a program goes away: its device, or all processes that have to do with it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use carrick_tests::build::root;
use carrick_tests::in_kernel::enable_veth_redirect;
use carrick_tests::net::{DEVICE, End, Net};

use super::{Asking, Ended, House};

/// Has a connection that is echoed, and begins another one for each line that comes; prints what becomes of both.
const HOLD: &str = "
import socket, sys
def connect():
    s = socket.create_connection((sys.argv[1], 7), 60)
    s.settimeout(60)
    return s
def said(s):
    try:
        s.sendall(b'hello')
        return s.recv(5).decode() or 'closed'
    except (ConnectionResetError, BrokenPipeError):
        return 'reset'
held = connect()
print(said(held))
for line in sys.stdin:
    old = said(held)
    try:
        print(old, said(connect()))
    except ConnectionRefusedError:
        print(old, 'refused')
";

#[test]
fn nobody_accepts_connections_once_daemon_and_application_are_killed() {
    let Some(house) = House::new() else { return };
    enable_veth_redirect(&house.net);
    let text = fs::read_to_string(house.on(DEVICE)).expect("readable");
    let text = text.replace("least.mtp", &root().join("protocols/tcp/tcp.mtp").display().to_string());
    let config = house.configured(&format!("{text}app = \"echo:7\"\nset = [\"max_conns=16\"]\n"));
    let daemon = house.daemon(&config, &format!("tcp is on {DEVICE}"));
    let mut peer = house.net.command(End::Peer, "python3");
    let peer = peer.args(["-u", "-c", HOLD, Net::OURS]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut peer = Ended(peer.spawn().expect("python3 runs"));
    let mut orders = peer.0.stdin.take().expect("piped");
    let mut said = BufReader::new(peer.0.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert_eq!(said.next().as_deref(), Some("hello"));
    let process = house.status()["programs"][0]["applications"][0]["process"].clone();
    let both = [daemon.id().to_string(), process.to_string()];
    let told = Command::new("kill").arg("-KILL").args(&both).status();
    assert!(told.is_ok_and(|status| status.success()), "both were there");
    assert!(!daemon.ended().success());
    assert!(house.is_attached(), "nobody was left to detach it");
    writeln!(orders, "again").expect("it reads");
    assert_eq!(said.next().as_deref(), Some("reset refused"), "the kernel's own stack answers");
    let next = house.daemon(&config, "warn: the application of tcp is gone");
    writeln!(orders, "again").expect("it reads");
    assert_eq!(said.next().as_deref(), Some("reset hello"), "it began anew");
    assert!(next.end().success());
    house.is_as_before();
}

#[test]
fn a_device_that_is_deleted_is_told_and_the_next_one_of_its_name_is_used() {
    let Some(house) = House::new() else { return };
    let mut asking = Asking::new(&house);
    asking.connects();
    assert_eq!(house.status()["programs"][0]["attached"], true);
    house.net.delete_wire().expect("it goes");
    asking.says(&format!("warn: {DEVICE} is gone; asking begins anew once there is a device {DEVICE}"));
    assert_eq!(house.status()["programs"][0]["attached"], false);
    house.net.make_wire_again().expect("there is one again");
    house.redirects();
    asking.says(&format!("info: asking is on {DEVICE}"));
    assert_eq!(house.status()["programs"][0]["attached"], true);
    asking.connects();
    let application = asking.application();
    assert_eq!(application["starts"], 2, "{application}");
    house.net.link(End::Ours, false).expect("it goes down");
    house.net.ip(End::Ours, &format!("link set {DEVICE} name other0")).expect("it is renamed");
    asking.says(&format!("warn: {DEVICE} is called other0 now; asking stays there"));
    let status = house.status();
    let program = &status["programs"][0];
    assert_eq!((&program["attached"], &program["device"]), (&true.into(), &"other0".into()), "{status}");
    house.net.ip(End::Ours, "link set other0 address 02:00:00:00:00:55").expect("it is taken");
    asking.says("info: other0 has another hardware address now");
    house.net.ip(End::Ours, "link set other0 up").expect("it is up");
    house.net.ip(End::Peer, &format!("neigh flush dev {DEVICE}")).expect("it asks again");
    asking.connects();
    assert!(asking.end(), "it ends in order");
    house.is_as_before();
}

/// Others who can replace pins would keep a program at its device that the daemon has removed.
#[test]
fn pins_lie_in_no_folder_of_others() {
    let Some(house) = House::new() else { return };
    let config = house.on(DEVICE);
    // As `mount -t bpf` makes it: everybody may write.
    let mine = house.pinned();
    fs::create_dir(&mine).expect("writable");
    std::os::unix::fs::chown(&mine, Some(1001), None).expect("we are root");
    let said = house.missing(house.carrickd("run").arg(&config));
    let sentence = format!("{} belongs to user 1001, who can replace what is in it", mine.display());
    assert!(said.starts_with(&sentence) && said.ends_with("(--pins)"), "{said}");
    fs::remove_dir(&mine).expect("it is empty");
    house.is_as_before();
    assert!(house.daemon(&config, "least is on").end().success(), "a folder that it makes is its own");
    house.is_as_before();
}
