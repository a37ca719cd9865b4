//! carrick-driver
