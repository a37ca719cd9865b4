// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codes of what concerns several files: 500 to 599. A number is never used again for something else.

use crate::diag::{Code, code_table};

code_table! {
    IMPORT_MISSING = 500, "an import that is not found", "0500";
    IMPORT_CYCLE = 501, "files that import each other", "0501";
    FEATURE_TWICE = 502, "a feature or an option that is declared twice", "0502";
    FEATURE_UNKNOWN = 503, "an unknown feature", "0503";
    FEATURE_OPTION = 504, "an unknown option of a feature", "0504";
    FEATURE_REQUIRES = 505, "a feature without what it requires", "0505";
    FEATURE_EXCLUDES = 506, "features that exclude each other", "0506";
    FEATURE_NESTED = 507, "a feature inside of another", "0507";
    EXTENSION_DIFFERS = 508, "an extension that contradicts what it extends", "0508";
    PLACE_UNKNOWN = 509, "a position next to a processor that is not in the chain", "0509";
    PLACE_CYCLE = 510, "processors whose positions contradict each other", "0510";
    FEATURE_TEST = 511, "a test of no feature", "0511";
    FEATURE_OF_ITSELF = 512, "a feature that requires or excludes itself", "0512";
    IMPORT_NO_PROGRAM = 513, "an import of something that is no program", "0513";
    MORE = 514, "more mistakes than are shown", "0514";
    TOO_LONG = 515, "a program that is too long", "0515";
    FIELDS_TAKEN = 516, "fields of something that has none", "0516";
    POINT_UNKNOWN = 517, "an extension of an unknown point", "0517";
    POINT_TWICE = 518, "two points of one name in a function", "0518";
    POINT_PASSES = 519, "a point that passes something else than a variable", "0519";
    POINT_MISPLACED = 520, "a point outside of a function", "0520";
    POINT_UNREACHED = 521, "an extension that never runs", "0521";
    EXTENSION_LEAVES = 522, "an extension that leaves its function", "0522";
    EXTENSION_SEES = 523, "a variable that the point does not pass", "0523";
}
