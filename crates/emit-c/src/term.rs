// SPDX-License-Identifier: MIT OR Apache-2.0
//! C expressions as they are put together: text, how tightly its outermost operator binds, and the type that C gives it.

use carrick_ir::{Ty, arith};

/// How tightly the outermost operator of an expression binds; what comes later binds tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binds {
    /// `? :`
    Choice,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `==`, `!=`
    Equality,
    /// `<` and its like
    Order,
    /// `<<`, `>>`
    Shift,
    /// `+`, `-`
    Sum,
    /// `*`, `/`, `%`
    Product,
    /// `-`, `!`, a cast
    Unary,
    /// a name, a call, a member
    Primary,
}

impl Binds {
    /// Whether an operand that binds so stands in the operator without parentheses; `left`: it is the left operand.
    /// Where the order is one that compilers (`-Wparentheses`) and people doubt, it does not.
    fn takes(self, operand: Binds, left: bool) -> bool {
        use Binds::{And, BitAnd, BitOr, BitXor, Choice, Equality, Or, Order, Product, Shift, Sum, Unary};
        match self {
            Choice => operand > Choice,
            Or => operand >= Equality || operand == Or,
            And => operand >= Equality || operand == And,
            BitOr | BitXor | BitAnd => operand >= Unary || (operand == self && left),
            Equality | Order => operand >= Shift,
            Shift => operand >= Unary,
            Sum | Product => operand > self || (operand == self && left),
            Unary | Binds::Primary => operand >= self,
        }
    }
}

/// The type of an expression in C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CType {
    /// `bool`, or what a comparison gives
    Truth,
    /// of so many bits
    Unsigned(u32),
    /// of so many bits
    Signed(u32),
    /// no number
    Other,
}

impl CType {
    /// How values of a type of the language are kept.
    pub fn of(ty: &Ty) -> CType {
        match ty {
            Ty::Bool => CType::Truth,
            ty if !ty.is_scalar() || matches!(ty, Ty::Addr | Ty::Id(_)) => CType::Other,
            ty => match arith::shape(ty) {
                (bits, true) => CType::Signed(bits),
                (bits, false) => CType::Unsigned(bits),
            },
        }
    }

    /// Whether each of its values is one of the other type, to which C converts it without being told.
    pub fn widens_to(self, to: CType) -> bool {
        match (self, to) {
            (CType::Unsigned(from), CType::Unsigned(to)) | (CType::Signed(from), CType::Signed(to)) => {
                from <= to
            }
            (CType::Unsigned(from), CType::Signed(to)) => from < to,
            _ => false,
        }
    }
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Term {
    /// as it is written
    pub text: String,
    /// how tightly
    pub binds: Binds,
    /// its type
    pub c: CType,
}

impl Term {
    /// A name, a call, a member, a literal.
    pub fn primary(text: impl Into<String>, c: CType) -> Term {
        Term { text: text.into(), binds: Binds::Primary, c }
    }

    /// With an operator between two operands.
    pub fn joined(a: &Term, symbol: &str, b: &Term, binds: Binds, c: CType) -> Term {
        let text = format!("{} {symbol} {}", a.beside(binds, true), b.beside(binds, false));
        Term { text, binds, c }
    }

    /// As one operand of an operator that binds so.
    pub fn beside(&self, operator: Binds, left: bool) -> String {
        // What `!a == b` means is doubted, too.
        let doubted = self.text.starts_with('!') && matches!(operator, Binds::Equality | Binds::Order);
        match operator.takes(self.binds, left) && !doubted {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }

    /// As the operand of a cast, or of an operator in front of it.
    pub fn operand(&self) -> String {
        self.beside(Binds::Unary, true)
    }

    /// As it can stand anywhere.
    pub fn anywhere(&self) -> String {
        self.beside(Binds::Primary, true)
    }

    /// With an operator in front.
    pub fn prefixed(&self, operator: &str, c: CType) -> Term {
        Term { text: format!("{operator}{}", self.operand()), binds: Binds::Unary, c }
    }

    /// Converted to a C type with this name; it stays as it is if it has that.
    pub fn cast(self, name: &str, c: CType) -> Term {
        if self.c == c && c != CType::Other { self } else { self.prefixed(&format!("({name})"), c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Term {
        Term::primary(text, CType::Unsigned(32))
    }

    fn joined(a: &Term, symbol: &str, b: &Term, binds: Binds) -> Term {
        Term::joined(a, symbol, b, binds, CType::Unsigned(32))
    }

    #[test]
    fn parentheses_stand_where_precedence_asks_for_them() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let sum = joined(&a, "+", &b, Binds::Sum);
        assert_eq!(joined(&sum, "-", &c, Binds::Sum).text, "a + b - c");
        assert_eq!(joined(&c, "-", &sum, Binds::Sum).text, "c - (a + b)");
        assert_eq!(joined(&sum, "*", &c, Binds::Product).text, "(a + b) * c");
        assert_eq!(joined(&sum, "<", &c, Binds::Order).text, "a + b < c");
        assert_eq!(sum.clone().prefixed("!", CType::Truth).text, "!(a + b)");
        assert_eq!(sum.cast("uint8_t", CType::Unsigned(8)).text, "(uint8_t)(a + b)");
    }

    #[test]
    fn parentheses_stand_where_a_compiler_would_ask_for_them() {
        let (a, b, c) = (name("a"), name("b"), name("c"));
        let both = joined(&a, "&&", &b, Binds::And);
        assert_eq!(joined(&both, "||", &c, Binds::Or).text, "(a && b) || c");
        let sum = joined(&a, "+", &b, Binds::Sum);
        assert_eq!(joined(&sum, "<<", &c, Binds::Shift).text, "(a + b) << c");
        assert_eq!(joined(&sum, "&", &c, Binds::BitAnd).text, "(a + b) & c");
        let less = joined(&a, "<", &b, Binds::Order);
        assert_eq!(joined(&less, "==", &c, Binds::Equality).text, "(a < b) == c");
    }
}
