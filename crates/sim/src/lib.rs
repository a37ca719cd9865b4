//! carrick-sim
