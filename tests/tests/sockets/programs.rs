// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that everybody has, as Debian packs them, each at either end; at the other end it runs on the kernel's stack.
//! Ours comes to its stack by the library, or is in a namespace that the stack serves.

use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks, skip};
use tempfile::TempDir;

use super::cases::{languages, stores, tools, web};
use super::setting::Stack;
use super::space::Space;

/// A wire, and a stack at our end of it.
pub struct Place {
    pub stack: Stack,
    pub dir: TempDir,
    pub net: Net,
}

/// What is there, though no path leads to it.
const POSTGRES: &str = "PostgreSQL's server";
const BOOST: &str = "Boost.Asio";
const ROOT: &str = "a root that may log in";

fn misses(program: &str) -> bool {
    let there = match program {
        POSTGRES => stores::postgres_programs().is_some(),
        BOOST => std::path::Path::new("/usr/include/boost/asio.hpp").exists(),
        ROOT => tools::root_may_log_in(),
        _ => return lacks(program),
    };
    if !there {
        skip(&format!("{program} is not there"));
    }
    !there
}

/// One use of them: at which end the server is.
type Case = fn(&Place, End);

const BOTH: [End; 2] = [End::Ours, End::Peer];
const OURS: [End; 1] = [End::Ours];

/// The cases, with the programs that each needs. Each is a test of its own on the native target, for each door; all
/// together are one over a stack whose core is in the kernel, which takes seconds to compile and to verify.
macro_rules! cases {
    ($($module:ident::$case:ident at $ends:ident needs $programs:expr;)*) => {
        $(#[test]
        fn $case() {
            natively(Stack::start, &$programs, uses(&$ends, false), $module::$case);
        })*
        mod in_a_namespace {
            use super::*;

            $(#[test]
            fn $case() {
                natively(serving_a_namespace, &$programs, uses(&$ends, true), $module::$case);
            })*
        }
        const CASES: &[(&str, &[&str], &[End], Case)] =
            &[$((stringify!($case), &$programs, &$ends, $module::$case)),*];
    };
}

cases! {
    web::nginx_serves_and_curl_fetches at BOTH needs ["nginx", "curl"];
    web::wrk_loads_nginx at BOTH needs ["nginx", "wrk"];
    web::nginx_is_a_reverse_proxy at OURS needs ["nginx", "curl", "python3"];
    web::haproxy_proxies at OURS needs ["haproxy", "curl", "python3"];
    web::lighttpd_serves_and_wget_fetches at BOTH needs ["lighttpd", "wget"];
    stores::redis_answers_its_benchmark at BOTH needs ["redis-server", "redis-benchmark", "redis-cli"];
    stores::memcached_verifies_its_load at BOTH needs ["memcached", "memccp", "memccat", "memcaslap"];
    stores::postgresql_answers_psql_and_pgbench at BOTH needs ["psql", "setpriv", POSTGRES];
    tools::iperf3_measures at BOTH needs ["iperf3"];
    tools::rsync_copies_there_and_back at BOTH needs ["rsync"];
    tools::ssh_runs_commands_at_sshd at BOTH needs ["ssh", "sshd", "ssh-keygen", ROOT];
    tools::socat_relays at BOTH needs ["socat"];
    languages::python_echoes_with_asyncio at BOTH needs ["python3"];
    languages::node_echoes at BOTH needs ["node"];
    languages::java_echoes at BOTH needs ["java", "javac"];
    languages::boost_asio_echoes at BOTH needs ["c++", BOOST];
}

/// Each wire, with the server at one end after the other. `crosswise`: at one end on the wire that loses nothing, and at the
/// other on the wire that does. The namespace's door has nothing to do with wires.
fn uses(ends: &[End], crosswise: bool) -> Vec<(bool, End)> {
    let of = |loses: bool| match crosswise {
        true if loses => &ends[ends.len() - 1..],
        true => &ends[..1],
        false => ends,
    };
    [false, true].into_iter().flat_map(|loses| of(loses).iter().map(move |&server| (loses, server))).collect()
}

fn serving_a_namespace(net: &Net, wire: &[&str]) -> Stack {
    Stack::start_with_space(net, "", wire)
}

fn natively(start: fn(&Net, &[&str]) -> Stack, programs: &[&str], uses: Vec<(bool, End)>, case: Case) {
    if programs.iter().any(|program| misses(program)) {
        return;
    }
    for (loses, server) in uses {
        println!("server at {server:?}, the wire loses: {loses}");
        let Some(net) = Net::new() else { return };
        let dir = tempfile::tempdir().expect("a folder");
        let wire: &[&str] = if loses { &["--fault", "loss=1%,reorder=1%,seed=3"] } else { &[] };
        let place = Place { stack: start(&net, wire), dir, net };
        case(&place, server);
        place.stack.end();
    }
}

#[test]
fn all_of_them_by_the_kernel() {
    in_the_kernel(Stack::start_in_kernel, false);
}

#[test]
fn all_of_them_in_a_namespace_by_the_kernel() {
    in_the_kernel(|net| Stack::start_in_kernel_serving(net, Space::namespace(net)), true);
}

fn in_the_kernel(start: fn(&Net) -> Option<Stack>, crosswise: bool) {
    if lacks("clang") {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let Some(stack) = start(&net) else { return };
    let place = Place { stack, dir, net };
    for (name, programs, ends, case) in CASES {
        if programs.iter().any(|program| misses(program)) {
            continue;
        }
        for (loses, server) in uses(ends, crosswise) {
            println!("{name}, server at {server:?}, the wire loses: {loses}");
            enable_veth_redirect_but(&place.net, if loses { 100 } else { 0 });
            case(&place, server);
        }
    }
    place.stack.end();
}
