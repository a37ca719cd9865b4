// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiled transport against the Linux kernel's own, over a veth pair, or through a TUN device.
//!
//! Each scenario runs twice: with the kernel in our place, which shows that the scenario asks for what a real
//! stack does, and with ours.

mod pair;
mod scenarios;

use pair::{Pair, Setting};

/// Declares for each scenario a test with the kernel on both sides and one with ours, whose host gets these arguments.
macro_rules! scenarios {
    ($arguments:expr; $($name:ident),* $(,)?) => {
        mod kernel_with_kernel {
            $(#[test] fn $name() { super::run(super::Setting::Control, super::scenarios::$name); })*
        }
        ours!($arguments; $($name),*);
    };
}

/// Declares only the tests with ours.
macro_rules! ours {
    ($arguments:expr; $($name:ident),* $(,)?) => {
        mod ours_with_kernel {
            $(#[test] fn $name() { super::run(super::Setting::Ours(&$arguments), super::scenarios::$name); })*
        }
    };
}

scenarios!(
    [];
    we_open_they_close,
    they_open_we_close,
    both_close_at_once,
    we_half_close_and_still_receive,
    they_half_close_and_still_receive,
    we_abort,
    they_abort,
    we_are_refused,
    they_are_refused,
    data_both_ways_at_once,
    a_reader_who_stops_and_resumes,
    we_stop_reading_and_resume,
    without_window_scaling,
    without_timestamps,
    with_neither_option,
    they_accept_only_small_segments,
    many_connections,
    a_full_backlog,
    they_leave_data_unread,
    they_die_with_data_unread,
    a_port_is_used_again,
);

/// Who gives up does so sooner than by default, so that the tests need not wait for minutes.
mod impatient {
    use super::{Setting, run, scenarios};
    scenarios!(
        ["--set", "data_retries=3", "--set", "syn_retries=1"];
        nobody_answers_a_connect,
        the_wire_is_cut,
        they_fall_silent,
    );
}

/// The kernel in our place would take longer than it may.
mod found_again {
    use super::{Setting, run, scenarios};
    ours!([]; their_hardware_address_changes);
}

/// Both directions lose, exchange, repeat and spoil packets.
mod on_a_bad_wire {
    use super::{Setting, run, scenarios};
    ours!(
        ["--fault", "loss=1%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
        we_open_they_close,
        they_open_we_close,
        both_close_at_once,
        we_half_close_and_still_receive,
        they_half_close_and_still_receive,
        we_abort_and_they_find_out,
        they_abort_and_we_find_out,
        we_are_refused,
        they_are_refused,
        data_both_ways_at_once,
        a_reader_who_stops_and_resumes,
        we_stop_reading_and_resume,
        with_neither_option,
        a_port_is_used_again,
    );
}

/// The one that is small enough for a circuit.
mod small {
    const PROGRAM: &str = "protocols/small-tcp/small-tcp.mtp";
    const BAD_WIRE: &[&str] = &["--fault", "loss=1%,reorder=1%,dup=1%,corrupt=0.5%,delay=1ms,seed=7"];

    macro_rules! small {
        ($arguments:expr; $($name:ident),* $(,)?) => {
            $(
                #[test]
                fn $name() {
                    use crate::{Setting, run, scenarios};
                    run(Setting::Program(super::PROGRAM, $arguments), scenarios::$name);
                }
            )*
        };
    }

    mod on_a_good_wire {
        small!(
            &[];
            we_open_they_close,
            they_open_we_close,
            both_close_at_once,
            we_half_close_and_still_receive,
            they_half_close_and_still_receive,
            we_are_refused,
            they_are_refused,
            data_both_ways_at_once,
            we_stop_reading_and_resume,
            without_timestamps,
        );
    }

    mod on_a_bad_wire {
        small!(
            super::BAD_WIRE;
            we_open_they_close,
            both_close_at_once,
        );
    }
}

/// Declares tests with ours, which is built with features, and whose host gets these arguments.
macro_rules! featured {
    ($features:expr, $arguments:expr; $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                use crate::{Setting, run, scenarios};
                run(Setting::Featured($features, $arguments), scenarios::$name);
            }
        )*
    };
}

/// Losses found by RFC 6675, and spurious timeouts.
mod with_features {
    const FEATURES: &[&str] = &["--with", "frto", "--without", "rack"];

    featured!(
        FEATURES, &[];
        we_open_they_close,
        they_open_we_close,
        data_both_ways_at_once,
        without_timestamps,
        with_neither_option,
        they_accept_only_small_segments,
        many_connections,
        we_abort,
        we_stop_reading_and_resume,
    );

    mod on_a_bad_wire {
        featured!(
            super::FEATURES,
            &["--fault", "loss=2%,reorder=2%,dup=1%,corrupt=0.5%,mark=2%,delay=1ms,jitter=500us,seed=7"];
            they_open_we_close,
            we_half_close_and_still_receive,
            data_both_ways_at_once,
            a_reader_who_stops_and_resumes,
            we_stop_reading_and_resume,
            with_neither_option,
            we_are_told_of_holes,
            marks_from_us,
            marks_from_them,
            no_marks_for_who_does_not_want_them,
        );
    }
}

/// Losses found by time, and spurious timeouts, as the kernel finds them too.
mod with_losses_by_time {
    const FEATURES: &[&str] = &["--with", "frto"];

    featured!(
        FEATURES, &[];
        we_open_they_close,
        they_open_we_close,
        data_both_ways_at_once,
        with_neither_option,
        a_reader_who_stops_and_resumes,
    );

    mod on_a_bad_wire {
        featured!(
            super::FEATURES,
            &["--fault", "loss=2%,reorder=5%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
            they_open_we_close,
            we_half_close_and_still_receive,
            data_both_ways_at_once,
            without_timestamps,
            we_stop_reading_and_resume,
            with_neither_option,
            we_are_told_of_holes,
            they_are_told_what_came_twice,
            we_are_told_what_came_twice,
        );
    }
}

/// A timer for each segment, and nothing else, finds losses.
mod with_a_timer_for_each_segment {
    const FEATURES: &[&str] = &["--with", "timer_based"];

    featured!(
        FEATURES,
        &["--fault", "loss=2%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
        they_open_we_close,
        data_both_ways_at_once,
    );
}

/// With each mark told by itself; a kernel that has DCTCP does so too.
mod with_exact_marks {
    const FEATURES: &[&str] = &["--with", "dctcp"];
    const FAULTS: &[&str] = &["--fault", "loss=1%,reorder=1%,mark=5%,delay=1ms,jitter=500us,seed=7"];

    featured!(FEATURES, FAULTS; marks_from_us, marks_from_them, dctcp_at_both_ends);
}

/// Paced, as BBR's model of the path says.
mod with_a_model {
    const FEATURES: &[&str] = &["--with", "bbr", "--without", "rack"];

    featured!(
        FEATURES, &[];
        we_open_they_close,
        they_open_we_close,
        data_both_ways_at_once,
        without_timestamps,
        with_neither_option,
        many_connections,
        we_abort,
        a_reader_who_stops_and_resumes,
        bbr_at_both_ends,
    );

    mod on_a_bad_wire {
        featured!(
            super::FEATURES,
            &["--fault", "loss=2%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
            bbr_at_both_ends,
            they_open_we_close,
            we_half_close_and_still_receive,
            data_both_ways_at_once,
            with_neither_option,
        );
    }
}

/// The next link of a router takes less than the device.
mod on_a_narrow_path {
    use crate::scenarios::they_open_we_close;
    use crate::{Setting, run};

    #[test]
    fn and_says_so() {
        run(Setting::Routed(&[], 700), |pair| {
            they_open_we_close(pair);
            let reports = pair.net.router_counter("Icmp", "OutDestUnreachs");
            assert!((1..20).contains(&reports), "{reports} reports");
        });
    }

    #[test]
    fn and_nobody_listens() {
        run(Setting::Routed(&["--with", "path_mtu=searched"], 1100), they_open_we_close);
    }
}

/// Declares tests with ours on another kind of port, whose host gets these arguments.
macro_rules! ported {
    ($port:ident, $arguments:expr; $($name:ident),* $(,)?) => {
        $(#[test] fn $name() { crate::run(crate::Setting::$port(&$arguments), crate::scenarios::$name); })*
    };
}

/// The kernel at the other end of a TUN device.
mod through_a_tun {
    ported!(
        Tun, [];
        we_open_they_close,
        they_open_we_close,
        both_close_at_once,
        we_abort,
        they_are_refused,
        we_are_refused,
        many_connections,
        data_both_ways_at_once,
    );

    mod on_a_bad_wire {
        ported!(
            Tun, ["--fault", "loss=1%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
            we_half_close_and_still_receive,
            a_reader_who_stops_and_resumes,
        );
    }
}

/// Frames hold several packets, and leave checksums open.
mod with_offloads {
    use carrick_tests::net::End;

    use crate::scenarios::they_open_we_close;
    use crate::{Setting, run};

    ported!(
        Offloaded, [];
        we_open_they_close,
        both_close_at_once,
        we_abort,
        data_both_ways_at_once,
        a_reader_who_stops_and_resumes,
        we_stop_reading_and_resume,
        with_neither_option,
        they_accept_only_small_segments,
        many_connections,
    );

    mod on_a_bad_wire {
        ported!(
            Offloaded, ["--fault", "loss=1%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
            they_open_we_close,
            data_both_ways_at_once,
            a_reader_who_stops_and_resumes,
        );
    }

    /// In both directions, acknowledgements and all.
    #[test]
    fn several_segments_travel_in_a_frame() {
        run(Setting::Offloaded(&[]), |pair| {
            they_open_we_close(pair);
            for way in ["rx", "tx"] {
                let [frames, bytes] =
                    ["packets", "bytes"].map(|of| pair.net.device_counter(End::Ours, &format!("{way}_{of}")));
                assert!(frames > 0 && bytes > 3000 * frames, "{way}: {bytes} bytes in {frames} frames");
            }
        });
    }
}

/// Frames in memory shared with the kernel, both ways.
mod by_af_xdp {
    ported!(
        AfXdp, [];
        we_open_they_close,
        they_open_we_close,
        both_close_at_once,
        we_abort,
        they_are_refused,
        we_are_refused,
        many_connections,
        data_both_ways_at_once,
        a_reader_who_stops_and_resumes,
        we_stop_reading_and_resume,
        they_accept_only_small_segments,
    );

    mod on_a_bad_wire {
        ported!(
            AfXdp, ["--fault", "loss=1%,reorder=2%,dup=1%,corrupt=0.5%,delay=1ms,jitter=500us,seed=7"];
            data_both_ways_at_once,
            we_half_close_and_still_receive,
            a_reader_who_stops_and_resumes,
        );
    }
}

fn run(setting: Setting, scenario: fn(&mut Pair)) {
    if let Some(mut pair) = Pair::new(setting) {
        scenario(&mut pair);
    }
}
