// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport for networks that compute: what one end sends for given packets at given times, and two ends with a network
//! between them that changes, answers, delays and loses messages.

mod computing;
mod end;
mod pathlets;
mod receiver;
mod sender;
mod wire;
