//! carrick-interp
