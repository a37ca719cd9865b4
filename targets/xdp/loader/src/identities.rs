// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which instances there are: their ids, read from outside by what the object itself says of its layout.

use crate::layout::place;
use crate::load_error::{failed, told};
use crate::maps::{self, fd};
use crate::object::Object;

/// Where a part of an id is in the value of an instance.
struct Part {
    at: usize,
    octets: usize,
    is_signed: bool,
}

/// Where what is looked at is in the values of a context.
struct Place {
    live: usize,
    parts: Vec<Part>,
}

fn number(octets: &[u8], at: usize) -> usize {
    let mut number = [0; 4];
    number.copy_from_slice(&octets[at..at + 4]);
    u32::from_ne_bytes(number) as usize
}

fn half(octets: &[u8], at: usize) -> usize {
    usize::from(u16::from_ne_bytes([octets[at], octets[at + 1]]))
}

impl Place {
    /// Of the bytes of one context.
    fn read(of: &[u8]) -> Place {
        let parts = number(of, place::PART_COUNT).min(place::PARTS_MAX);
        let parts = (0..parts).map(|n| {
            let part = &of[place::PARTS + n * place::PART..];
            Part { at: number(part, 0), octets: half(part, 4).min(8), is_signed: half(part, 6) != 0 }
        });
        Place { live: number(of, 0) + place::LIVE, parts: parts.collect() }
    }

    /// The id of an instance; `None` where there is none.
    fn id(&self, value: &[u8]) -> Option<Vec<u64>> {
        let live = value.get(self.live..self.live + 4)?.iter().any(|octet| *octet != 0);
        let part = |part: &Part| {
            let octets = value.get(part.at..part.at + part.octets)?;
            let mut word = [0; 8];
            // In the order of the machine's bytes, as all of it.
            let at = if cfg!(target_endian = "big") { 8 - octets.len() } else { 0 };
            word[at..at + octets.len()].copy_from_slice(octets);
            let word = u64::from_ne_bytes(word);
            let unused = 64 - 8 * octets.len() as u32;
            let is_negative = part.is_signed && unused < 64 && word << unused >> 63 == 1;
            Some(if is_negative { word | !(u64::MAX >> unused) } else { word })
        };
        if live { self.parts.iter().map(part).collect() } else { None }
    }
}

impl Object {
    /// The ids of a context's instances by its number, each as the words of its parts; so many at most.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn identities(&self, context: usize, most: usize) -> Result<Vec<Vec<u64>>, String> {
        let zero = 0_u32.to_ne_bytes();
        let places = self.map("carrick_places")?;
        let mut all = vec![0_u8; places.info().map_err(|e| told(&e))?.value_size() as usize];
        maps::lookup(fd(places), &zero, &mut all).map_err(failed("read where instances are"))?;
        let begin = place::CONTEXTS + context * place::CONTEXT;
        let of = all.get(begin..begin + place::CONTEXT).ok_or("the object has no such context")?;
        let place = Place::read(of);
        let slots = self.map(&format!("slots_{context}"))?;
        let info = slots.info().map_err(|e| told(&e))?;
        let (mut value, mut ids) = (vec![0_u8; info.value_size() as usize], Vec::new());
        for slot in 0..info.max_entries() {
            maps::lookup(fd(slots), &slot.to_ne_bytes(), &mut value).map_err(failed("read an instance"))?;
            ids.extend(place.id(&value));
            if ids.len() == most {
                break;
            }
        }
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_part_by_part() {
        let place = Place {
            live: 0,
            parts: vec![
                Part { at: 4, octets: 4, is_signed: false },
                Part { at: 8, octets: 2, is_signed: true },
                Part { at: 16, octets: 8, is_signed: true },
            ],
        };
        let mut value = vec![0_u8; 24];
        value[4..8].copy_from_slice(&0x0a4d_0002_u32.to_ne_bytes());
        value[8..10].copy_from_slice(&(-2_i16).to_ne_bytes());
        value[16..24].copy_from_slice(&7_u64.to_ne_bytes());
        assert_eq!(place.id(&value), None, "nobody is there");
        value[0] = 1;
        assert_eq!(place.id(&value), Some(vec![0x0a4d_0002, -2_i64 as u64, 7]));
        assert_eq!(place.id(&value[..20]), None, "a part is missing");
    }
}
