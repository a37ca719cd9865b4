// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that move bytes.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use carrick_tests::net::End;
use carrick_tests::running::{Running, serve};

use super::{address, data, other, output, read, same};
use crate::programs::Place;
use crate::setting::PATIENCE;

/// It takes each connection for a client, so none may ask whether it is there.
pub fn iperf3_measures(place: &Place, server: End) {
    for reverse in [false, true] {
        let mut command = place.command(server, "iperf3");
        let _server = serve(command.args(["-s", "-1", "--forceflush"]), "Server listening");
        let mut client = place.command(other(server), "iperf3");
        client.args(["-c", address(server), "-t", "1", "-P", "2", "-J"]).args(reverse.then_some("-R"));
        let begin = Instant::now();
        let said = loop {
            let said: serde_json::Value = serde_json::from_slice(&output(&mut client)).expect("it is JSON");
            let refused = said["error"].as_str().is_some_and(|error| error.contains("refused"));
            if !refused || begin.elapsed() > PATIENCE {
                break said;
            }
        };
        // The receiver stops when the sender says that all is sent. What is under way then is not counted, so an amount (-n) that buffers
        // have room for would be none.
        let bytes = |side: &str| said["end"][side]["bytes"].as_u64();
        assert!(said["error"].is_null() && bytes("sum_received").is_some_and(|n| n > 0), "{said}");
        assert!(bytes("sum_sent").is_some_and(|n| n > 0), "{said}");
    }
}

/// The daemon serves each connection in a process of another user, with a root of its own. A file comes, changes a
/// little, and goes back: then only what has changed is sent.
pub fn rsync_copies_there_and_back(place: &Place, server: End) {
    let served = place.path().join("served");
    std::fs::create_dir_all(&served).expect("writable");
    std::os::unix::fs::chown(&served, Some(65534), Some(65534)).expect("we are root");
    let mut file = data(3_000_000);
    std::fs::write(served.join("data"), &file).expect("writable");
    place.open_to_users();
    let conf = format!("[files]\npath = {}\nread only = no\nuid = 65534\ngid = 65534\n", served.display());
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "rsync");
    command.args(["--daemon", "--no-detach", "--port=8730", "--address", address(server)]);
    command.arg(format!("--config={}", place.path().join("conf").display()));
    let _rsync = place.serve(server, &mut command, 8730);
    let there = format!("rsync://{}:8730/files/data", address(server));
    let here = place.path().join("data").display().to_string();
    let _ = std::fs::remove_file(&here);
    let rsync = |from: &str, to: &str| {
        let mut command = place.command(other(server), "rsync");
        let said = output(command.args(["--checksum", "--stats", "--timeout=60", from, to]));
        String::from_utf8_lossy(&said).into_owned()
    };
    rsync(&there, &here);
    same(&read(Path::new(&here)), &file);
    file[1_500_000] ^= 1;
    std::fs::write(&here, &file).expect("writable");
    let said = rsync(&here, &there);
    assert!(said.contains("Matched data: 2,9"), "{said}");
    same(&read(&served.join("data")), &file);
}

/// Whether this machine's root may log in by a key: the account of root is not locked.
pub fn root_may_log_in() -> bool {
    let accounts = std::fs::read_to_string("/etc/shadow").unwrap_or_default();
    accounts.lines().any(|line| line.starts_with("root:") && !line.starts_with("root:!"))
}

/// sshd with its own keys. It needs a folder of the system's, which only this process sees.
fn sshd(place: &Place, server: End) -> Running {
    let dir = place.path();
    for key in ["host_key", "key"] {
        let path = dir.join(key);
        if !path.exists() {
            output(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path));
        }
    }
    let conf = format!(
        "Port 2222\nListenAddress {}\nHostKey {dir}/host_key\nAuthorizedKeysFile {dir}/key.pub\nPidFile none\n\
         UsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\n",
        address(server),
        dir = dir.display()
    );
    std::fs::write(dir.join("conf"), conf).expect("writable");
    let script =
        "mount -t tmpfs run /run && mkdir -m 755 /run/sshd && exec \"$(command -v sshd)\" -D -e -f \"$1\"";
    let mut command = place.command(server, "sh");
    place.serve(server, command.args(["-c", script, "sh"]).arg(dir.join("conf")), 2222)
}

/// sshd changes its root and its user, and confines the process that talks to a client that is not known yet. A command,
/// and 5 MB in each direction.
pub fn ssh_runs_commands_at_sshd(place: &Place, server: End) {
    let _sshd = sshd(place, server);
    let (sent, there) = (data(5_000_000), place.path().join("there"));
    std::fs::write(place.path().join("sent"), &sent).expect("writable");
    let ssh = |command: &str| {
        let mut ssh = place.command(other(server), "ssh");
        ssh.args(["-F", "none", "-p", "2222", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"]);
        ssh.arg("-o").arg(format!("UserKnownHostsFile={}", place.path().join("known").display()));
        ssh.arg("-i").arg(place.path().join("key")).arg(format!("root@{}", address(server))).arg(command);
        ssh
    };
    let done = ssh("echo $((6 * 7)); exit 7").output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.stdout == b"42\n" && done.status.code() == Some(7), "{said}");
    let file = File::open(place.path().join("sent")).expect("readable");
    output(ssh(&format!("cat > {}", there.display())).stdin(file));
    same(&read(&there), &sent);
    same(&output(&mut ssh(&format!("cat {}", there.display()))), &sent);
}

/// socat with a process for each connection, and both directions at once; the client ends its own first.
pub fn socat_relays(place: &Place, server: End) {
    let sent = data(3_000_000);
    std::fs::write(place.path().join("sent"), &sent).expect("writable");
    let listens = format!("TCP-LISTEN:7100,bind={},reuseaddr,fork", address(server));
    let mut command = place.command(server, "socat");
    let _socat = place.serve(server, command.args(["-t", "60", &listens, "EXEC:cat"]), 7100);
    let file = File::open(place.path().join("sent")).expect("readable");
    let mut client = place.command(other(server), "socat");
    let connects = format!("TCP:{}:7100", address(server));
    same(&output(client.args(["-t", "60", "-", &connects]).stdin(file)), &sent);
}
