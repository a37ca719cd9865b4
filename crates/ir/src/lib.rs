//! carrick-ir
