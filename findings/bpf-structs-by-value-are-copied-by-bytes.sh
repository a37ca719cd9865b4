#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A function that is always inlined takes a struct of three 64-bit words by value; its caller passes one to which its own argument points.
# The machine is BPF.
#
# Expected: the type is aligned to 8 bytes, so each of the three words is one load, as where the function takes a pointer.
# Seen (clang 17.0.6 and 20.1.2, of the wheels ziglang 0.12.1 and 0.15.2; clang 14.0.6 of Debian does the same): 24 loads of one byte,
# which shifts put together, and their variables on a stack of 512 bytes. The inliner copies a `byval` argument with alignment 1 ("we don't
# know the alignment of the src pointer", HandleByValArgumentInit), and nothing finds out better, as an argument's type says nothing
# about alignment to LLVM. BPF has no unaligned loads; on x86-64 the copy costs nothing.
# So: pass pointers, or begin the function with `p = __builtin_assume_aligned(p, __alignof__(*p))`. Then there are three loads.
. "$(dirname "$0")/packages"

cat >structs.c <<'END'
typedef unsigned long long u64;
struct span { void *at; u64 len, token; };
struct job { u64 number; struct span data; };
static inline __attribute__((always_inline)) u64 of_value(struct span s) { return (u64)s.at + s.len * s.token; }
static inline __attribute__((always_inline)) u64 of_pointer(const struct span *s) { return of_value(*s); }
u64 by_value(struct job *j) { return of_value(j->data); }
u64 by_pointer(struct job *j) {
    const struct span copy = j->data;
    return of_pointer(&copy);
}
u64 aligned(struct job *j) {
    j = __builtin_assume_aligned(j, __alignof__(*j));
    return of_value(j->data);
}
END
loads() { # the loads of one byte, and of eight, in each function
    awk '/^[a-z_]+:/ { f = $1 } /= \*\(u8 \*\)/ { b[f]++ } /= \*\(u64 \*\)/ { w[f]++ }
        END { printf "by_value %d %d, by_pointer %d %d, aligned %d %d\n", b["by_value:"], w["by_value:"],
              b["by_pointer:"], w["by_pointer:"], b["aligned:"], w["aligned:"] }' "$1"
}
failed=0
for version in 0.12.1 0.15.2; do
    python3 -m pip install -q --no-deps --target "zig-$version" "ziglang==$version" 2> pip.log || { cat pip.log >&2; exit 3; }
    clang() { PYTHONPATH="zig-$version" python3 -m ziglang clang "$@"; }
    clang -target bpfel-unknown-none -mcpu=v3 -O2 -S structs.c -o structs.s
    seen=$(loads structs.s)
    echo "$(clang --version | head -1 | cut -d' ' -f1-3): loads of 1 and of 8 bytes: $seen"
    [ "$seen" = "by_value 24 0, by_pointer 0 3, aligned 0 3" ] || failed=1
done
exit "$failed"
