//! carrick-emit-c
