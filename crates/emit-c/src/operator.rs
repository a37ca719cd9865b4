// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators and built-in functions: what C has as the language does, and calls of `carrick/numbers.h` and its like.

use carrick_ir::builtins::{Kind, Takes};
use carrick_ir::{BinOp, Builtin, Expr, ExprKind, Ty, arith};

use crate::Emitter;
use crate::emitter::Feature;
use crate::expr::{Operands, unsigned};
use crate::names::leaves;
use crate::term::{Binds, CType, Term};

impl Emitter<'_> {
    pub(crate) fn binary(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let c = CType::of(ty);
        let call = |name: &str| Term::primary(self.call_of(name, &[a, b], of), c);
        let sign = if arith::shape(&a.ty).1 { "s" } else { "u" };
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => self.wrapping(op, a, b, ty, of),
            BinOp::Div | BinOp::Rem => self.division(op, a, b, ty, of),
            BinOp::Shl | BinOp::Shr => self.shift(op, a, b, ty, of),
            BinOp::And | BinOp::Or | BinOp::Xor => self.bitwise(op, a, b, ty, of),
            BinOp::LogicalAnd | BinOp::LogicalOr => {
                let (symbol, binds) =
                    if op == BinOp::LogicalAnd { ("&&", Binds::And) } else { ("||", Binds::Or) };
                Term::joined(&self.term(a, of), symbol, &self.term(b, of), binds, CType::Truth)
            }
            BinOp::FixedMul => call("scale_s"),
            BinOp::FixedDiv => call("ratio_s"),
            BinOp::Scale => call(&format!("scale_{sign}")),
            BinOp::BytesPerRate => call("bytes_per_rate"),
            BinOp::BytesPerDuration => call("bytes_per_duration"),
            BinOp::RateTimesDuration => call("rate_times_duration"),
            _ => self.comparison(op, a, b, of),
        }
    }

    /// A call of a function of the runtime that takes what the expressions are, or wider.
    fn call_of(&self, name: &str, args: &[&Expr], of: Operands<'_>) -> String {
        let args: Vec<String> = args.iter().map(|e| self.converted(e, CType::of(&e.ty), of).text).collect();
        format!("carrick_{name}({})", args.join(", "))
    }

    /// The same of a function that is there for 32 and 64 bits, and of signed numbers for 64: narrower results are cut.
    fn sized(&self, name: &str, args: &[&Expr], ty: &Ty, of: Operands<'_>) -> Term {
        let c = CType::of(ty);
        let (suffix, result) = match c {
            CType::Signed(_) => ("_s", CType::Signed(64)),
            CType::Unsigned(64) | CType::Other => ("64", CType::Unsigned(64)),
            _ => ("32", CType::Unsigned(32)),
        };
        let call = self.call_of(&format!("{name}{suffix}"), args, of);
        Term::primary(call, result).cast(&self.names.ctype(ty), c)
    }

    /// Both operands as numbers of one type of C. What C widens by itself is not cast, if the other operand has that type.
    fn alike(&self, a: &Expr, b: &Expr, name: &str, c: CType, of: Operands<'_>) -> [Term; 2] {
        let [x, y] = [a, b].map(|e| {
            let bare = self.converted(e, c, of);
            if bare.c.widens_to(c) { bare } else { self.term(e, of).cast(name, c) }
        });
        let has_it = x.c == c || y.c == c;
        if has_it { [x, y] } else { [x.cast(name, c), y] }
    }

    /// Sums and products: computed unsigned, in at least 32 bits, so that overflow wraps.
    fn wrapping(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let (symbol, binds, name) = match op {
            BinOp::Add => ("+", Binds::Sum, "add_s"),
            BinOp::Sub => ("-", Binds::Sum, "sub_s"),
            _ => ("*", Binds::Product, "mul_s"),
        };
        let c = CType::of(ty);
        let signed = |e: &Expr| CType::of(&e.ty) == CType::Signed(64);
        if c == CType::Signed(64) && signed(a) && signed(b) {
            return Term::primary(self.call_of(name, &[a, b], of), c);
        }
        let (unsigned, wide) = unsigned(c);
        let [x, y] = self.alike(a, b, unsigned, wide, of);
        Term::joined(&x, symbol, &y, binds, wide).cast(&self.names.ctype(ty), c)
    }

    fn division(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let (symbol, name) = if op == BinOp::Div { ("/", "div") } else { ("%", "rem") };
        let c = CType::of(ty);
        let nonzero = matches!(b.kind, ExprKind::Lit(v) if v != 0);
        if nonzero && !matches!(c, CType::Signed(_)) {
            let (unsigned, wide) = unsigned(c);
            let [x, y] = self.alike(a, b, unsigned, wide, of);
            return Term::joined(&x, symbol, &y, Binds::Product, wide).cast(&self.names.ctype(ty), c);
        }
        let positive = matches!(b.kind, ExprKind::Lit(v) if (v as i64) > 0);
        match c {
            // The kernel's machine has no division of signed numbers.
            CType::Signed(64) if positive && self.dialect.has(Feature::SignedDivision) => {
                let [x, y] = [a, b].map(|e| self.converted(e, c, of));
                Term::joined(&x, symbol, &y, Binds::Product, c)
            }
            CType::Unsigned(64) => Term::primary(self.call_of(&format!("{name}_u"), &[a, b], of), c),
            _ => self.sized(name, &[a, b], ty, of),
        }
    }

    fn shift(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let (c, name) = (CType::of(ty), self.names.ctype(ty));
        let (symbol, called) = if op == BinOp::Shl { ("<<", "shl") } else { (">>", "shr") };
        if op == BinOp::Shr && matches!(c, CType::Signed(_)) {
            return self.sized("shr", &[a, b], ty, of);
        }
        let (unsigned, wide) = unsigned(c);
        let x = match self.converted(a, wide, of) {
            bare if bare.c.widens_to(wide) => bare,
            _ => self.term(a, of).cast(unsigned, wide),
        };
        let CType::Unsigned(width) = wide else { return x };
        if let ExprKind::Lit(n) = b.kind
            && n < u64::from(width)
        {
            let n = Term::primary(n.to_string(), CType::Signed(32));
            return Term::joined(&x.cast(unsigned, wide), symbol, &n, Binds::Shift, wide).cast(&name, c);
        }
        let call = format!(
            "carrick_{called}{width}({}, {})",
            x.text,
            self.converted(b, CType::Unsigned(64), of).text
        );
        Term::primary(call, wide).cast(&name, c)
    }

    fn bitwise(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty, of: Operands<'_>) -> Term {
        let (symbol, binds) = match op {
            BinOp::And => ("&", Binds::BitAnd),
            BinOp::Or => ("|", Binds::BitOr),
            _ => ("^", Binds::BitXor),
        };
        let (c, name) = (CType::of(ty), self.names.ctype(ty));
        if c == CType::Truth {
            // Compilers suspect `|` between truth values of being meant as `||`.
            let [x, y] = [a, b].map(|e| self.term(e, of).prefixed("(int)", CType::Signed(32)));
            return Term::joined(&x, symbol, &y, binds, CType::Signed(32)).cast(&name, c);
        }
        match c {
            CType::Unsigned(32 | 64) => {
                let [x, y] = self.alike(a, b, &name, c, of);
                Term::joined(&x, symbol, &y, binds, c)
            }
            _ => {
                let both = Term::joined(&self.term(a, of), symbol, &self.term(b, of), binds, CType::Other);
                if c == CType::Signed(64) || c == CType::Signed(32) {
                    Term { c, ..both }
                } else {
                    both.cast(&name, c)
                }
            }
        }
    }

    fn comparison(&self, op: BinOp, a: &Expr, b: &Expr, of: Operands<'_>) -> Term {
        if let Ty::Id(id) = a.ty {
            // A choice is nowhere: it is put into an array.
            let [x, y] = [a, b].map(|e| match self.term(e, of) {
                id if id.binds == Binds::Choice => {
                    format!("(const {}[]){{{}}}", self.names.ctype(&e.ty), id.text)
                }
                id => format!("&{}", id.operand()),
            });
            let equal = format!("{}_equal({x}, {y})", self.names.own(&self.p.ids[id.index()].name));
            let equal = Term::primary(equal, CType::Truth);
            return if op == BinOp::Eq { equal } else { equal.prefixed("!", CType::Truth) };
        }
        let order = |name: &str, args: [&Expr; 2]| {
            Term::primary(self.call_of(&format!("seq_{name}"), &args, of), CType::Truth)
        };
        let (symbol, binds) = match (op, a.ty == Ty::Seq32) {
            (BinOp::Lt, true) => return order("lt", [a, b]),
            (BinOp::Le, true) => return order("le", [a, b]),
            (BinOp::Gt, true) => return order("lt", [b, a]),
            (BinOp::Ge, true) => return order("le", [b, a]),
            (BinOp::Eq, _) => ("==", Binds::Equality),
            (BinOp::Ne, _) => ("!=", Binds::Equality),
            (BinOp::Lt, _) => ("<", Binds::Order),
            (BinOp::Le, _) => ("<=", Binds::Order),
            (BinOp::Gt, _) => (">", Binds::Order),
            _ => (">=", Binds::Order),
        };
        // Of unsigned numbers the narrower one is widened, as the program says.
        let wanted = CType::of(&a.ty);
        let [x, y] = [a, b].map(|e| match wanted {
            CType::Unsigned(32 | 64) => self.converted(e, wanted, of),
            _ => self.term(e, of),
        });
        Term::joined(&x, symbol, &y, binds, CType::Truth)
    }

    pub(crate) fn builtin(&self, op: Builtin, args: &[Expr], ty: &Ty, of: Operands<'_>) -> Term {
        let c = CType::of(ty);
        let primary = |text: String| Term::primary(text, c);
        let all: Vec<&Expr> = args.iter().collect();
        match op {
            Builtin::Now => primary("core->now".into()),
            Builtin::Mtu => {
                let less = self.less_net();
                Term { text: format!("(uint64_t)(core->mtu{less})"), binds: Binds::Unary, c }
            }
            Builtin::LocalIp => primary("core->address".into()),
            Builtin::KeyedHash => Term { text: self.keyed_hash(args, of), binds: Binds::Unary, c },
            Builtin::AddrIsNone => {
                let ptr = Term::primary(format!("{}.ptr", self.term(all[0], of).anywhere()), CType::Other);
                Term::joined(&ptr, "==", &Term::primary("NULL", CType::Other), Binds::Equality, CType::Truth)
            }
            _ => self.runtime_function(op, &all, ty, of),
        }
    }

    /// A call of the function of the runtime that has the built-in function's name, and that of the group of its operands.
    fn runtime_function(&self, op: Builtin, args: &[&Expr], ty: &Ty, of: Operands<'_>) -> Term {
        let name = op.name();
        let call = |name: &str| Term::primary(self.call_of(name, args, of), CType::of(ty));
        match op.declaration().takes {
            Takes::Alike(_, Kind::Ordered | Kind::Signed) => self.sized(name, args, ty, of),
            Takes::Alike(_, Kind::Quantity) if arith::shape(&args[0].ty).1 => call(&format!("{name}_s")),
            Takes::Alike(_, Kind::Quantity) => call(&format!("{name}_u")),
            Takes::Each([Kind::Fixed, ..]) => call(&format!("fixed_{name}")),
            _ => call(name),
        }
    }

    fn keyed_hash(&self, args: &[Expr], of: Operands<'_>) -> String {
        let mut words = Vec::new();
        for arg in args {
            match &arg.ty {
                Ty::Id(id) => {
                    let value = self.term(arg, of).anywhere();
                    let parts = leaves(self.p, &self.p.ids[id.index()].parts);
                    words.extend(parts.iter().map(|(part, ty)| match CType::of(ty) {
                        CType::Signed(_) => format!("(uint64_t){value}.{part}"),
                        _ => format!("{value}.{part}"),
                    }));
                }
                _ => words.push(self.word_of(arg, of)),
            }
        }
        let n = words.len();
        format!("(uint32_t)carrick_siphash(core->key, (const uint64_t[]){{{}}}, {n})", words.join(", "))
    }
}
