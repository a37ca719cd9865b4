//! The codes of what concerns several files: 500 to 599. A number is never used again for something else.

use crate::diag::{Code, code_table};

code_table! {
    IMPORT_MISSING = 500, "an import that leads nowhere", "0500";
    IMPORT_CYCLE = 501, "files that import each other", "0501";
}
