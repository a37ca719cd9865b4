// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options whose kind and length are variable-length integers.

use carrick_ir::arith;
use carrick_ir::part::VARINT_MAX;

use crate::bits::get_bits;
use crate::varint::{read_varint, write_varint};
use crate::wire::{OptCode, OptionList};

/// Takes a number from the beginning.
fn take(octets: &mut &[u8]) -> Option<u64> {
    let (value, len) = read_varint(octets)?;
    *octets = &octets[len..];
    Some(value)
}

/// Reads a list of options into the blueprint's cells; `None` if it is malformed.
pub(crate) fn read_wide(list: &OptionList, mut octets: &[u8], cells: &mut [u64]) -> Option<()> {
    while !octets.is_empty() {
        let kind = take(&mut octets)?;
        let len = usize::try_from(take(&mut octets)?).ok()?;
        let value = octets.get(..len)?;
        octets = &octets[len..];
        if let Some(option) = list.members.iter().find(|o| o.wide == Some(kind)) {
            read_option(option, value, cells)?;
        }
    }
    Some(())
}

/// The fields fill the option's length.
fn read_option(option: &OptCode, mut octets: &[u8], cells: &mut [u64]) -> Option<()> {
    let first = option.cell as usize;
    cells[first] = 1;
    for (i, (ty, len)) in option.fields.iter().enumerate() {
        cells[first + 1 + i] = if *len == 0 {
            take(&mut octets)?
        } else {
            let raw = get_bits(octets.get(..*len)?, 0, *len as u32 * 8);
            octets = &octets[*len..];
            arith::canonical(ty, raw)
        };
    }
    match &option.list {
        Some(list) => list.read(octets, cells),
        None => octets.is_empty().then_some(()),
    }
}

/// Writes an option that the blueprint's cells hold.
pub(crate) fn write_wide(option: &OptCode, kind: u64, cells: &[u64], out: &mut Vec<u8>) {
    let mut value = Vec::new();
    for (i, (_, len)) in option.fields.iter().enumerate() {
        let cell = cells[option.cell as usize + 1 + i];
        match *len {
            0 => write_varint(cell & VARINT_MAX, &mut value),
            len => value.extend_from_slice(&cell.to_be_bytes()[8 - len..]),
        }
    }
    if let Some(list) = &option.list {
        list.write(cells, &mut value);
    }
    write_varint(kind, out);
    write_varint(value.len() as u64, out);
    out.extend_from_slice(&value);
}
