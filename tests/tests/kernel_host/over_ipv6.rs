// SPDX-License-Identifier: MIT OR Apache-2.0
//! A transport over IPv6 in the kernel, with the kernel's own stack as its peer, on a wire that loses frames too.

use std::fs;
use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{DEVICE, End, Net, lacks_ipv6};
use carrick_tests::running::serve;

use super::streams::{place, served_by};

const OURS: &str = "fd00:77::1";
const PEER: &str = "fd00:77::2";
/// One frame in so many is lost.
const LOST: u32 = 50;

fn application(net: &Net, app: &str) -> Command {
    let mut command = net.command(End::Ours, &carrick().to_string_lossy());
    command
        .args(["run", "--quiet"])
        .arg(root().join("protocols/tcp/tcp.mtp"))
        .args(["--over", "ipv6", "--target", "xdp"]);
    command.args(["--port", DEVICE, "--addr", &format!("{OURS}/64"), "--set", "max_conns=16", "--app", app]);
    command
}

#[test]
fn bytes_pass_both_ways_over_ipv6() {
    if lacks_ipv6() {
        return;
    }
    let Some((net, dir)) = place() else { return };
    for (end, address) in [(End::Ours, OURS), (End::Peer, PEER)] {
        net.take_ipv6(end, address).expect("an address");
    }
    let data = fs::read(dir.path().join("data")).expect("readable");
    enable_veth_redirect_but(&net, 0);
    let server = &mut application(&net, &format!("http:{}", dir.path().display()));
    let Some(running) = served_by(server) else { return };
    for lost in [0, LOST] {
        enable_veth_redirect_but(&net, lost);
        let url = format!("http://[{OURS}]/data");
        let curl = net.command(End::Peer, "curl").args(["-sSg", "--max-time", "60", &url]).output();
        let curl = curl.expect("curl runs");
        assert!(curl.status.success(), "{}", String::from_utf8_lossy(&curl.stderr));
        assert!(curl.stdout == data, "1 in {lost} lost: {} bytes", curl.stdout.len());
    }
    assert!(running.end().success());
    let mut files = net.command(End::Peer, "python3");
    files.args(["-u", "-m", "http.server", "8000", "--bind", PEER]).current_dir(dir.path());
    let _files = serve(&mut files, "Serving HTTP");
    let to = dir.path().join("got");
    let done = application(&net, &format!("get:http://[{PEER}]:8000/data:{}", to.display())).output();
    let done = done.expect("it starts");
    assert!(done.status.success(), "{done:?}");
    assert!(fs::read(to).expect("it is there") == data);
}
