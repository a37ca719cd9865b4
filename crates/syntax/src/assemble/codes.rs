//! The codes of what concerns several files: 500 to 599. A number is never used again for something else.

use crate::diag::{Code, code_table};

code_table! {
    IMPORT_MISSING = 500, "an import that leads nowhere", "0500";
    IMPORT_CYCLE = 501, "files that import each other", "0501";
    FEATURE_TWICE = 502, "a feature or an option that is declared twice", "0502";
    FEATURE_UNKNOWN = 503, "an unknown feature", "0503";
    FEATURE_OPTION = 504, "an unknown option of a feature", "0504";
    FEATURE_REQUIRES = 505, "a feature without what it requires", "0505";
    FEATURE_EXCLUDES = 506, "features that exclude each other", "0506";
    FEATURE_NESTED = 507, "a feature inside of another", "0507";
    EXTENSION_DIFFERS = 508, "an extension that contradicts what it extends", "0508";
    PLACE_UNKNOWN = 509, "a place beside a processor that is not in the chain", "0509";
    PLACE_CYCLE = 510, "processors that wait for each other's place", "0510";
    FEATURE_TEST = 511, "a test of no feature", "0511";
    FEATURE_OF_ITSELF = 512, "a feature that requires or excludes itself", "0512";
    IMPORT_NO_PROGRAM = 513, "an import of something that is no program", "0513";
    MORE = 514, "more mistakes than are shown", "0514";
    TOO_LONG = 515, "a program that is too long", "0515";
}
