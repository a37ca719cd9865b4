// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that everybody has, as Debian packs them, each at either end; at the other end it runs on the kernel's stack.

use carrick_tests::in_kernel::enable_veth_redirect_but;
use carrick_tests::net::{End, Net, lacks, skip};
use tempfile::TempDir;

use super::cases;
use super::setting::Stack;

/// A wire, and a stack at our end of it.
pub struct Place {
    pub stack: Stack,
    pub dir: TempDir,
    pub net: Net,
}

/// Debian keeps it where no path leads.
const POSTGRES: &str = "postgres";

fn misses(program: &str) -> bool {
    if program != POSTGRES {
        return lacks(program);
    }
    let missing = cases::postgres_programs().is_none();
    if missing {
        skip("postgres is not installed");
    }
    missing
}

/// One way to use them: at which end the server is.
type Case = fn(&Place, End);

const BOTH: [End; 2] = [End::Ours, End::Peer];
const OURS: [End; 1] = [End::Ours];

/// The cases, with the programs that each needs. Each is a test of its own on the native target, and all together are one
/// over one stack whose core is in the kernel, which takes seconds to compile and to verify; each on a wire as it is and on
/// one as it should not be, with ours as the server and as the client.
macro_rules! cases {
    ($($case:ident at $ends:ident needs $programs:expr;)*) => {
        $(#[test]
        fn $case() {
            natively(&$programs, &$ends, cases::$case);
        })*
        const CASES: &[(&str, &[&str], &[End], Case)] =
            &[$((stringify!($case), &$programs, &$ends, cases::$case)),*];
    };
}

cases! {
    nginx_serves_and_curl_fetches at BOTH needs ["nginx", "curl"];
    wrk_loads_nginx at BOTH needs ["nginx", "wrk"];
    redis_answers_its_benchmark at BOTH needs ["redis-server", "redis-benchmark", "redis-cli"];
    iperf3_measures at BOTH needs ["iperf3"];
    nginx_is_a_reverse_proxy at OURS needs ["nginx", "curl", "python3"];
    haproxy_proxies at OURS needs ["haproxy", "curl", "python3"];
    postgresql_answers_psql at OURS needs ["psql", "setpriv", POSTGRES];
}

fn natively(programs: &[&str], ends: &[End], case: Case) {
    if programs.iter().any(|program| misses(program)) {
        return;
    }
    let wires: [&[&str]; 2] = [&[], &["--fault", "loss=1%,reorder=1%,seed=3"]];
    for wire in wires {
        for &server in ends {
            let Some(net) = Net::new() else { return };
            let dir = tempfile::tempdir().expect("a folder");
            let place = Place { stack: Stack::start(&net, wire), dir, net };
            case(&place, server);
            place.stack.end();
        }
    }
}

#[test]
fn all_of_them_by_the_kernel() {
    if lacks("clang") {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let Some(stack) = Stack::start_in_kernel(&net) else { return };
    let place = Place { stack, dir, net };
    for lost in [0, 100] {
        enable_veth_redirect_but(&place.net, lost);
        for (name, programs, ends, case) in CASES {
            if programs.iter().any(|program| misses(program)) {
                continue;
            }
            for &server in *ends {
                println!("{name}, server at {server:?}, one frame in {lost} lost");
                case(&place, server);
            }
        }
    }
    place.stack.end();
}
