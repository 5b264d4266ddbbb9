//! Reads protobuf fields one after the other without allocating: the ground `peek` stands on.
//!
//! Accepts what prost accepts, with one exception: group wire types (3 and 4), which nothing in Pulsar's protocol has
//! used and protobuf gave up long ago, are refused even in unknown fields.

use thiserror::Error;

/// Why bytes are not a protobuf message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// A variable-length number does not end, or exceeds 64 bits.
    #[error("a variable-length number is cut off or exceeds 64 bits")]
    Varint,
    /// A field's key holds number 0, a number too large, or an unknown wire type.
    #[error("{key:#x} is no field key")]
    Key {
        /// The key as read.
        key: u64,
    },
    /// A field is a group.
    #[error("field {field} is a group, which this protocol does not have")]
    Group {
        /// The field's number.
        field: u32,
    },
    /// A field's content would end after the message.
    #[error("field {field} ends after its message")]
    Overrun {
        /// The field's number.
        field: u32,
    },
    /// A known field has a wire type that is not its own.
    #[error("field {field} has the wire type of something else")]
    WireType {
        /// The field's number.
        field: u32,
    },
    /// Text is not UTF-8.
    #[error("text of field {field} is not UTF-8")]
    Utf8 {
        /// The field's number.
        field: u32,
    },
}

/// One field: its number and its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    pub number: u32,
    content: Content<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    Varint(u64),
    Delimited(&'a [u8]),
    Fixed,
}

impl<'a> Field<'a> {
    pub fn varint(self) -> Result<u64, Malformed> {
        match self.content {
            Content::Varint(value) => Ok(value),
            _ => Err(Malformed::WireType { field: self.number }),
        }
    }

    /// An int32, uint32's bits, or an enum's number: the low half, as protobuf truncates.
    pub fn int32(self) -> Result<i32, Malformed> {
        Ok(self.varint()? as i32)
    }

    pub fn bool(self) -> Result<bool, Malformed> {
        Ok(self.varint()? != 0)
    }

    pub fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self.content {
            Content::Delimited(bytes) => Ok(bytes),
            _ => Err(Malformed::WireType { field: self.number }),
        }
    }

    pub fn text(self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::Utf8 { field: self.number })
    }

    /// A repeated number, one per field or packed. The values are not wanted, their form is checked.
    pub fn check_repeated_varint(self) -> Result<(), Malformed> {
        match self.content {
            Content::Varint(_) => Ok(()),
            Content::Delimited(mut packed) => {
                while !packed.is_empty() {
                    take_varint(&mut packed)?;
                }
                Ok(())
            }
            Content::Fixed => Err(Malformed::WireType { field: self.number }),
        }
    }
}

/// The fields of one message, in the order they come.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn of(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    fn take(&mut self) -> Result<Field<'a>, Malformed> {
        let key = take_varint(&mut self.rest)?;
        let number = u32::try_from(key).map_err(|_| Malformed::Key { key })? >> 3;
        if number == 0 {
            return Err(Malformed::Key { key });
        }
        let content = match key & 7 {
            0 => Content::Varint(take_varint(&mut self.rest)?),
            1 => self.take_bytes(8, number).map(|_| Content::Fixed)?,
            2 => {
                let length = take_varint(&mut self.rest)?;
                Content::Delimited(self.take_bytes(length, number)?)
            }
            3 | 4 => return Err(Malformed::Group { field: number }),
            5 => self.take_bytes(4, number).map(|_| Content::Fixed)?,
            _ => return Err(Malformed::Key { key }),
        };
        Ok(Field { number, content })
    }

    fn take_bytes(&mut self, length: u64, field: u32) -> Result<&'a [u8], Malformed> {
        let split = usize::try_from(length)
            .ok()
            .and_then(|at| self.rest.split_at_checked(at));
        let (taken, rest) = split.ok_or(Malformed::Overrun { field })?;
        self.rest = rest;
        Ok(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            None
        } else {
            Some(self.take())
        }
    }
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(Malformed::Varint)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            // The tenth byte has room for one bit.
            return if shift == 63 && *byte > 1 {
                Err(Malformed::Varint)
            } else {
                Ok(value)
            };
        }
    }
    Err(Malformed::Varint)
}
