//! carrick-lower
