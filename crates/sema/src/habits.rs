// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of other languages and systems, and what stands here for them. They are too far from it for a slip.

/// The type that stands for a type of C or Rust.
pub(crate) fn of_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "long" | "signed" | "i32" | "int32_t" | "s32" => "int32",
        "unsigned" | "uint" | "u32" | "uint32_t" => "uint32",
        "short" | "i16" | "int16_t" | "s16" => "int16",
        "u16" | "uint16_t" | "ushort" => "uint16",
        "i64" | "int64_t" | "s64" => "int64",
        "size_t" | "u64" | "uint64_t" | "ulong" => "uint64",
        "i8" | "int8_t" | "s8" => "int8",
        "char" | "byte" | "u8" | "uint8_t" | "uchar" => "uint8",
        "boolean" | "_Bool" => "bool",
        "ssize_t" | "ptrdiff_t" => "int64",
        _ => return None,
    })
}

/// The value that stands for one.
pub(crate) fn of_value(name: &str) -> Option<&'static str> {
    Some(match name {
        "NULL" | "null" | "nil" | "nullptr" | "None" => "none",
        "TRUE" | "True" => "true",
        "FALSE" | "False" => "false",
        _ => return None,
    })
}

/// The instruction or built-in that stands for a function.
pub(crate) fn of_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "timer_cancel" | "timer_del" | "timer_clear" | "timer_disarm" | "cancel_timer" | "stop_timer"
        | "clear_timer" | "del_timer" => "timer_stop",
        "timer_set" | "timer_arm" | "timer_add" | "set_timer" | "start_timer" | "arm_timer" | "add_timer" => {
            "timer_start"
        }
        "timer_reset" | "timer_mod" | "timer_update" | "reset_timer" | "restart_timer" | "mod_timer" => {
            "timer_restart"
        }
        "send" | "send_packet" | "send_pkt" | "emit" | "transmit" => "pkt_gen",
        "free_ctx" | "delete_ctx" | "destroy_ctx" => "del_ctx",
        "create_ctx" | "make_ctx" => "new_ctx",
        "rand" => "random",
        "time" | "gettime" | "get_time" | "clock" => "now",
        _ => return None,
    })
}
