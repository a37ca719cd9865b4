// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers and clients of HTTP, and proxies.

use carrick_tests::net::End;
use carrick_tests::running::Running;

use super::{address, data, other, output, read, same};
use crate::programs::Place;

/// nginx with two workers, which it forks, and this in its configuration of HTTP.
fn nginx_of(place: &Place, server: End, http: &str, port: u16) -> Running {
    let dir = place.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {dir}/{name}; "))
        .collect();
    let conf = format!(
        "daemon off; pid {dir}/pid; user root; error_log stderr notice; worker_processes 2;\n\
         events {{ worker_connections 256; }}\n\
         http {{ access_log off; {temporary} {http} }}\n"
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "nginx");
    place.serve(server, command.args(["-p", &dir.to_string(), "-c", &format!("{dir}/conf")]), port)
}

/// nginx that serves `data`.
fn nginx(place: &Place, server: End, bytes: usize) -> Running {
    std::fs::write(place.path().join("data"), data(bytes)).expect("writable");
    let served =
        format!("sendfile on; tcp_nopush on; server {{ listen 80; root {}; }}", place.path().display());
    nginx_of(place, server, &served, 80)
}

/// A server of `data`, which a proxy needs behind it, at the other end or next to the proxy.
fn origin(place: &Place, end: End, address: &str) -> Running {
    let www = place.path().join("www");
    std::fs::create_dir_all(&www).expect("writable");
    std::fs::write(www.join("data"), data(300_000)).expect("writable");
    let mut command = place.command(end, "python3");
    command.args(["-u", "-m", "http.server", "8080", "--bind", address, "--directory"]).arg(www);
    let running = carrick_tests::running::serve(&mut command, "Serving HTTP");
    let from = if address == super::address(end) { other(end) } else { end };
    assert!(place.connects(from, address, 8080), "the origin is not served");
    running
}

/// Through the proxy, several times at once and one after another.
fn fetches_through_the_proxy(place: &Place, server: End, path: &str) {
    let url = format!("http://{}:8000{path}", address(server));
    let mut curl = place.command(other(server), "curl");
    curl.args(["-sS", "--fail", "--max-time", "60", "--parallel"]);
    let got = output(curl.args([&url, &url, &url, &url]));
    assert_eq!(got.len(), 1_200_000);
    let got = output(place.command(other(server), "curl").args(["-sS", "--max-time", "60", &url]));
    same(&got, &read(&place.path().join("www/data")));
}

/// nginx adds a socket to its epoll set, and connects it then: to the other end, and to loopback.
pub fn nginx_is_a_reverse_proxy(place: &Place, server: End) {
    let _far = origin(place, other(server), address(other(server)));
    let _near = origin(place, server, "127.0.0.1");
    let proxy = format!(
        "upstream far {{ server {}:8080; keepalive 4; }} upstream near {{ server 127.0.0.1:8080; keepalive 4; }}\n\
         proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_connect_timeout 20s;\n\
         server {{ listen 8000; location /far/ {{ proxy_pass http://far/; }} location /near/ {{ proxy_pass http://near/; }} }}",
        address(other(server))
    );
    let _nginx = nginx_of(place, server, &proxy, 8000);
    fetches_through_the_proxy(place, server, "/far/data");
    fetches_through_the_proxy(place, server, "/near/data");
}

/// HAProxy as Debian configures it: it asks whether its sockets listen, changes its root and its user, and may not make
/// another process.
pub fn haproxy_proxies(place: &Place, server: End) {
    let _origin = origin(place, other(server), address(other(server)));
    let root = place.path().join("empty");
    std::fs::create_dir_all(&root).expect("writable");
    let conf = format!(
        "global\n chroot {}\n uid 65534\n gid 65534\n maxconn 200\n\
         defaults\n mode http\n timeout connect 20s\n timeout client 20s\n timeout server 20s\n\
         frontend here\n bind {}:8000\n default_backend there\n\
         backend there\n server one {}:8080\n",
        root.display(),
        address(server),
        address(other(server))
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    place.open_to_users();
    let mut command = place.command(server, "haproxy");
    let _haproxy =
        place.serve(server, command.args(["-db", "-V", "-f"]).arg(place.path().join("conf")), 8000);
    fetches_through_the_proxy(place, server, "/data");
}

pub fn nginx_serves_and_curl_fetches(place: &Place, server: End) {
    let _nginx = nginx(place, server, 3_000_000);
    let url = format!("http://{}/data", address(server));
    // Twice: the second request takes the same connection.
    let got = output(place.command(other(server), "curl").args(["-sS", "--max-time", "60", &url, &url]));
    let data = read(&place.path().join("data"));
    same(&got, &[data.clone(), data].concat());
}

pub fn wrk_loads_nginx(place: &Place, server: End) {
    let _nginx = nginx(place, server, 1000);
    let url = format!("http://{}/data", address(server));
    let said = output(place.command(other(server), "wrk").args(["-t2", "-c16", "-d1", &url]));
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("Socket errors") && !said.contains("Non-2xx"), "{said}");
    let requests = said.lines().find_map(|line| line.trim().split_once(" requests in"));
    assert!(requests.is_some_and(|(n, _)| n.parse::<u64>().is_ok_and(|n| n > 16)), "{said}");
}

/// lighttpd as another user; wget keeps its connection, and continues a file of which it has a part.
pub fn lighttpd_serves_and_wget_fetches(place: &Place, server: End) {
    let (dir, served) = (place.path().display(), data(3_000_000));
    std::fs::write(place.path().join("data"), &served).expect("writable");
    std::fs::write(place.path().join("got"), &served[..1_000_000]).expect("writable");
    place.open_to_users();
    let conf = format!(
        "server.document-root = \"{dir}\"\nserver.bind = \"{}\"\nserver.port = 8001\n\
         server.username = \"nobody\"\nserver.groupname = \"nogroup\"\n",
        address(server)
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "lighttpd");
    let _lighttpd = place.serve(server, command.args(["-D", "-f"]).arg(place.path().join("conf")), 8001);
    let url = format!("http://{}:8001/data", address(server));
    let wget = |arguments: &[&str]| {
        let mut command = place.command(other(server), "wget");
        output(command.args(["-q", "--tries=1", "--timeout=60"]).args(arguments))
    };
    same(&wget(&["-O", "-", &url, &url]), &[served.clone(), served.clone()].concat());
    wget(&["-c", "-O", &format!("{dir}/got"), &url]);
    same(&read(&place.path().join("got")), &served);
}
