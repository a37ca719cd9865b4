//! carrick-sema
