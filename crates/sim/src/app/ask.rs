// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an application asks of its host.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::core::Data;
use crate::interface::{Args, Call};

/// What an application asks of its host.
#[derive(Serialize, Deserialize)]
pub enum Ask {
    /// a request under this token
    Call { call: Call, handle: u64, args: Args, token: u64, data: AskData },
    /// `wake` at this time
    Wake { at: u64, conn: usize },
}

/// What a request carries.
#[derive(Serialize, Deserialize)]
pub enum AskData {
    None,
    Send(Cow<'static, [u8]>),
    Recv(u64),
    /// memory that the program reads from and writes to
    Shared(Vec<u8>),
}

impl AskData {
    /// As the core takes it.
    pub fn as_data(&self) -> Data<'_> {
        match self {
            AskData::None => Data::None,
            AskData::Send(Cow::Borrowed(octets)) => Data::Lent(octets),
            AskData::Send(Cow::Owned(octets)) => Data::Send(octets),
            AskData::Recv(len) => Data::Recv(*len),
            AskData::Shared(octets) => Data::Shared(octets),
        }
    }
}
