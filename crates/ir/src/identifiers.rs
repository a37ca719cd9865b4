// SPDX-License-Identifier: MIT OR Apache-2.0
//! All strings of a program but its [`Text`](crate::Text), found by its form as data: none can be forgotten.

use std::fmt::Error;

use serde::Serialize;
use serde::ser::{self, Serializer};

/// A string of a program, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'a> {
    /// the type whose field has it
    pub of: &'static str,
    pub field: &'static str,
    pub value: &'a str,
}

/// Calls `see` for each string in `of` that is no text.
pub fn each(of: &impl Serialize, see: &mut dyn FnMut(Found<'_>)) {
    let walked = of.serialize(&mut Walk { of: "", field: "", see });
    debug_assert!(walked.is_ok(), "nothing refuses");
}

/// Takes data as if it were written somewhere.
struct Walk<'s> {
    of: &'static str,
    field: &'static str,
    see: &'s mut dyn FnMut(Found<'_>),
}

/// What has parts; the place that they share.
struct Parts<'w, 's> {
    walk: &'w mut Walk<'s>,
    of: &'static str,
    field: &'static str,
}

impl<'w, 's> Walk<'s> {
    fn parts(&'w mut self) -> Result<Parts<'w, 's>, Error> {
        let (of, field) = (self.of, self.field);
        Ok(Parts { walk: self, of, field })
    }

    fn fields(&'w mut self, of: &'static str) -> Result<Parts<'w, 's>, Error> {
        Ok(Parts { walk: self, of, field: "" })
    }
}

impl Parts<'_, '_> {
    fn part<T: Serialize + ?Sized>(&mut self, field: &'static str, part: &T) -> Result<(), Error> {
        (self.walk.of, self.walk.field) = (self.of, field);
        part.serialize(&mut *self.walk)
    }
}

macro_rules! no_strings {
    ($($name:ident($($ty:ty),*);)*) => {$(
        fn $name(self, $(_: $ty),*) -> Result<(), Error> {
            Ok(())
        }
    )*};
}

impl<'w, 's> Serializer for &'w mut Walk<'s> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'w, 's>;
    type SerializeTuple = Parts<'w, 's>;
    type SerializeTupleStruct = Parts<'w, 's>;
    type SerializeTupleVariant = Parts<'w, 's>;
    type SerializeMap = Parts<'w, 's>;
    type SerializeStruct = Parts<'w, 's>;
    type SerializeStructVariant = Parts<'w, 's>;

    no_strings! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        (self.see)(Found { of: self.of, field: self.field, value });
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name == "Text" { Ok(()) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        of: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        (self.of, self.field) = (of, "");
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'w, 's>, Error> {
        self.parts()
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'w, 's>, Error> {
        self.parts()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'w, 's>, Error> {
        self.parts()
    }

    fn serialize_tuple_struct(self, of: &'static str, _: usize) -> Result<Parts<'w, 's>, Error> {
        self.fields(of)
    }

    fn serialize_struct(self, of: &'static str, _: usize) -> Result<Parts<'w, 's>, Error> {
        self.fields(of)
    }

    fn serialize_tuple_variant(
        self,
        of: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts<'w, 's>, Error> {
        self.fields(of)
    }

    fn serialize_struct_variant(
        self,
        of: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts<'w, 's>, Error> {
        self.fields(of)
    }
}

macro_rules! parts {
    ($($form:ident: $part:ident $(, $key:ident)?;)*) => {$(
        impl ser::$form for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            $(fn $key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
                self.part(self.field, key)
            })?

            fn $part<T: Serialize + ?Sized>(&mut self, part: &T) -> Result<(), Error> {
                self.part(self.field, part)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
    SerializeMap: serialize_value, serialize_key;
}

macro_rules! named_parts {
    ($($form:ident;)*) => {$(
        impl ser::$form for Parts<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, part: &T) -> Result<(), Error> {
                self.part(key, part)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

named_parts! {
    SerializeStruct;
    SerializeStructVariant;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Text;

    #[derive(Serialize)]
    struct Inner {
        name: String,
        said: Text,
    }

    #[derive(Serialize)]
    enum Kind {
        Plain,
        One(String),
        Two(String, u8),
        Named { name: Option<String> },
    }

    #[derive(Serialize)]
    struct Outer {
        inner: Inner,
        pairs: Vec<(Inner, String)>,
        kinds: [Kind; 4],
        map: BTreeMap<String, Text>,
    }

    #[test]
    fn every_string_is_found_that_is_no_text() {
        let inner = |name: &str| Inner { name: name.into(), said: "text".into() };
        let named = Kind::Named { name: Some("f".into()) };
        let of = Outer {
            inner: inner("a"),
            pairs: vec![(inner("b"), "c".into())],
            kinds: [Kind::Plain, Kind::One("d".into()), Kind::Two("e".into(), 1), named],
            map: BTreeMap::from([("g".into(), "text".into())]),
        };
        let mut found = String::new();
        each(&of, &mut |Found { of, field, value }| found.push_str(&format!("{of}.{field}={value} ")));
        assert_eq!(found, "Inner.name=a Inner.name=b Outer.pairs=c Kind.=d Kind.=e Kind.name=f Outer.map=g ");
    }
}
