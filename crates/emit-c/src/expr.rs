//! Expressions and places.

use carrick_ir::{self as ir, BinOp, Builtin, Expr, ExprKind, NetField, Place, Proj, Ty, UnOp, arith};

use crate::Emitter;
use crate::names::{safe, window_words};

/// A place in C: the lvalue, and what must hold for it to be there.
pub struct CPlace {
    pub text: String,
    pub guard: Option<String>,
}

impl Emitter<'_> {
    /// A scalar literal of this type.
    pub(crate) fn literal(&self, value: u64, ty: &Ty) -> String {
        let (_, signed) = arith::shape(ty);
        match ty {
            Ty::Bool => (if value == 0 { "false" } else { "true" }).into(),
            Ty::Addr => "(struct carrick_addr){0}".into(),
            Ty::Status => format!("CARRICK_{}", ir::STATUS_NAMES.get(value as usize).unwrap_or(&"OK")),
            Ty::Enum(id) => {
                let def = &self.p.enums[id.index()];
                match def.variants.iter().find(|(_, v)| *v == value) {
                    Some((name, _)) => self.names.declared(name),
                    None => self.literal(value, &def.repr),
                }
            }
            _ if signed && value == i64::MIN as u64 => "INT64_MIN".into(),
            _ if signed => {
                let v = value as i64;
                if i32::try_from(v).is_ok() { format!("{v}") } else { format!("INT64_C({v})") }
            }
            _ if value == u64::MAX => "UINT64_MAX".into(),
            _ if u32::try_from(value).is_ok() => format!("{value}u"),
            _ => format!("UINT64_C({value})"),
        }
    }

    pub(crate) fn expr(&self, e: &Expr) -> String {
        match &e.kind {
            ExprKind::Lit(value) => self.literal(*value, &e.ty),
            ExprKind::Const(id) => self.names.declared(&self.p.consts[id.index()].name),
            ExprKind::Param(id) => format!("core->params.{}", safe(&self.p.params[id.index()].name)),
            ExprKind::Load(place) => self.load(place),
            ExprKind::Unary(op, a) => self.unary(*op, a, &e.ty),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, &e.ty),
            ExprKind::Cast(a) if e.ty == Ty::Bool => format!("({} != 0)", self.expr(a)),
            ExprKind::Cast(a) => format!("(({}){})", self.names.ctype(&e.ty), self.expr(a)),
            ExprKind::Cond(c, a, b) => {
                // The operands of ?: are promoted; the cast keeps the type.
                let text = format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b));
                if narrow(&e.ty) { format!("(({}){text})", self.names.ctype(&e.ty)) } else { text }
            }
            ExprKind::MakeId(id, parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.expr(p)).collect();
                format!("((struct {}){{{}}})", self.names.id(*id), parts.join(", "))
            }
            ExprKind::Builtin(op, args) => self.builtin(*op, args, &e.ty),
            ExprKind::ListLen(list) => self.list_len(list),
            ExprKind::ListFull(list) => format!("({} == {}u)", self.list_len(list), list_bound(&list.ty)),
            ExprKind::ListFind(list, key) => self.list_find(list, key),
            ExprKind::WndHead(wnd) => {
                let head = if is_runs(&wnd.ty) { "wnd.head" } else { "head" };
                format!("{}.{head}", self.place(wnd).text)
            }
            ExprKind::WndTest(wnd, at) => self.window_call(wnd, "test", &[self.expr(at)]),
            ExprKind::WndFirstSet(wnd) => self.window_call(wnd, "first_set", &[]),
            ExprKind::WndFirstUnset(wnd) => self.window_call(wnd, "first_unset", &[]),
            ExprKind::TimerArmed(ctx, timer) => {
                format!("carrick_timer_armed(&{}->timers__[{}])", self.local(*ctx), timer.0)
            }
            ExprKind::Handle(ctx) => self.handle_of(*ctx),
            ExprKind::TxRoom(ctx) => {
                let Ty::Context(id) = self.local_type(*ctx) else { return "0u".into() };
                if self.kernel {
                    let name = self.names.own(&self.p.contexts[id.index()].name);
                    return format!("{name}_tx_room({})", self.local(*ctx));
                }
                let mask = format!("core->{}_tx_mask", self.p.contexts[id.index()].name);
                format!("carrick_tx_room(&{}->tx__, {mask})", self.local(*ctx))
            }
            ExprKind::PacketLeft => {
                let packet = self.packet();
                format!("(uint64_t)({packet}->rest[1] - {packet}->rest[0])")
            }
            ExprKind::PacketPeek => {
                let packet = self.packet();
                if self.kernel {
                    return format!("{}(core, {packet})", self.names.own("peek"));
                }
                format!("({packet}->rest[0] < {packet}->rest[1] ? *{packet}->rest[0] : 0u)")
            }
            ExprKind::OptPresent(bp, opt) => {
                format!("{}.opts__.has_{}", self.local(*bp), self.p.opts[opt.index()].name)
            }
            ExprKind::BpField(at) => format!("BP__{at}"),
            ExprKind::PrevField(at) => format!("PREV__{at}"),
            ExprKind::HeaderLen => "header_len".into(),
            ExprKind::PayloadLen => "payload_len".into(),
            ExprKind::PrevPayloadLen => "prev->payload__.len".into(),
            ExprKind::CallArg(at) => format!("ARG__{at}"),
        }
    }

    /// How many elements a list has: none if it is itself outside of what it is in.
    pub(crate) fn list_len(&self, list: &Place) -> String {
        let CPlace { text, guard } = self.place(list);
        guard.map_or_else(|| format!("{text}.len"), |guard| format!("({guard} ? {text}.len : 0u)"))
    }

    /// An expression of a blueprint, with its fields read from `bp` and those of the packet before from `prev`.
    pub(crate) fn header_expr(&self, e: &Expr, blueprint: &ir::BlueprintDef, bp: &str) -> String {
        let mut text = self.expr(e);
        for (at, field) in blueprint.fields.iter().enumerate().rev() {
            text = text.replace(&format!("BP__{at}"), &format!("{bp}{}", safe(&field.name)));
            text = text.replace(&format!("PREV__{at}"), &format!("prev->{}", safe(&field.name)));
        }
        text
    }

    /// The packet that the parser reads.
    pub(crate) fn packet(&self) -> String {
        self.function.map_or_else(String::new, |f| safe(&f.locals[0].name))
    }

    pub(crate) fn handle_of(&self, ctx: ir::LocalId) -> String {
        let ty = self.local_type(ctx);
        match ty {
            Ty::Context(id) => {
                format!("{}_handle({})", self.names.own(&self.p.contexts[id.index()].name), self.local(ctx))
            }
            _ => "0u".into(),
        }
    }

    fn unary(&self, op: UnOp, a: &Expr, ty: &Ty) -> String {
        let value = self.expr(a);
        let c = self.names.ctype(ty);
        match op {
            UnOp::Not => format!("!{value}"),
            UnOp::Sqrt => format!("carrick_fixed_sqrt({value})"),
            UnOp::Cbrt => format!("carrick_fixed_cbrt({value})"),
            UnOp::BitNot => format!("(({c})~{value})"),
            UnOp::Neg => format!("(({c})(0u - ({}){value}))", unsigned(ty)),
        }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr, ty: &Ty) -> String {
        let (x, y) = (self.expr(a), self.expr(b));
        let c = self.names.ctype(ty);
        let (width, signed) = arith::shape(&a.ty);
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => self.wrapping(op, (&x, a), (&y, b), ty),
            BinOp::Div | BinOp::Rem => {
                let name = if op == BinOp::Div { "div" } else { "rem" };
                let sign = if signed { "s" } else { "u" };
                let nonzero = matches!(b.kind, ExprKind::Lit(v) if v != 0) && !signed;
                if nonzero {
                    let symbol = if op == BinOp::Div { "/" } else { "%" };
                    let text = format!("({x} {symbol} {y})");
                    return if narrow(ty) { format!("(({c}){text})") } else { text };
                }
                format!("(({c})carrick_{name}_{sign}({x}, {y}))")
            }
            BinOp::Shl => format!("(({c})carrick_shl((uint64_t){x}, {y}, {width}))"),
            BinOp::Shr if signed => format!("(({c})carrick_shr_s({x}, {y}))"),
            BinOp::Shr => format!("(({c})carrick_shr_u({x}, {y}, {width}))"),
            BinOp::And | BinOp::Or | BinOp::Xor => {
                let symbol = match op {
                    BinOp::And => "&",
                    BinOp::Or => "|",
                    _ => "^",
                };
                if *ty == Ty::Bool {
                    // Compilers suspect `|` between truth values of being meant as `||`.
                    return format!("((bool)((int){x} {symbol} (int){y}))");
                }
                let text = format!("({x} {symbol} {y})");
                if narrow(ty) { format!("(({c}){text})") } else { text }
            }
            BinOp::LogicalAnd => format!("({x} && {y})"),
            BinOp::LogicalOr => format!("({x} || {y})"),
            BinOp::FixedMul => format!("carrick_scale_s({x}, {y})"),
            BinOp::FixedDiv => format!("carrick_ratio_s({x}, {y})"),
            BinOp::Scale | BinOp::Ratio => {
                let name = if op == BinOp::Scale { "scale" } else { "ratio" };
                format!("carrick_{name}_{}({x}, {y})", if signed { "s" } else { "u" })
            }
            BinOp::BytesPerRate => format!("carrick_bytes_per_rate({x}, {y})"),
            BinOp::BytesPerDuration => format!("carrick_bytes_per_duration({x}, {y})"),
            BinOp::RateTimesDuration => format!("carrick_rate_times_duration({x}, {y})"),
            _ => self.comparison(op, a, &x, &y),
        }
    }

    /// Sums and products: computed unsigned, in at least 32 bits, so that overflow wraps.
    fn wrapping(&self, op: BinOp, (x, a): (&str, &Expr), (y, b): (&str, &Expr), ty: &Ty) -> String {
        let symbol = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            _ => "*",
        };
        let plain = |t: &Ty| matches!(self.names.ctype(t).as_str(), "uint32_t" | "uint64_t");
        if self.names.ctype(ty) == self.names.ctype(&a.ty) && plain(ty) && plain(&b.ty) {
            return format!("({x} {symbol} {y})");
        }
        let u = unsigned(ty);
        format!("(({})(({u}){x} {symbol} ({u}){y}))", self.names.ctype(ty))
    }

    fn comparison(&self, op: BinOp, a: &Expr, x: &str, y: &str) -> String {
        if let Ty::Id(id) = a.ty {
            let equal = format!("{}_equal(&{x}, &{y})", self.names.own(&self.p.ids[id.index()].name));
            return if op == BinOp::Eq { equal } else { format!("!{equal}") };
        }
        let order = |name: &str, x: &str, y: &str| format!("carrick_seq_{name}({x}, {y})");
        match (op, a.ty == Ty::Seq32) {
            (BinOp::Lt, true) => order("lt", x, y),
            (BinOp::Le, true) => order("le", x, y),
            (BinOp::Gt, true) => order("lt", y, x),
            (BinOp::Ge, true) => order("le", y, x),
            (BinOp::Eq, _) => format!("({x} == {y})"),
            (BinOp::Ne, _) => format!("({x} != {y})"),
            (BinOp::Lt, _) => format!("({x} < {y})"),
            (BinOp::Le, _) => format!("({x} <= {y})"),
            (BinOp::Gt, _) => format!("({x} > {y})"),
            _ => format!("({x} >= {y})"),
        }
    }

    fn builtin(&self, op: Builtin, args: &[Expr], ty: &Ty) -> String {
        let v: Vec<String> = args.iter().map(|a| self.expr(a)).collect();
        let c = self.names.ctype(ty);
        let choose = |condition: String, a: &str, b: &str| format!("(({c})({condition} ? {a} : {b}))");
        match op {
            Builtin::Now => "core->now".into(),
            Builtin::Mtu => format!("(uint64_t)(core->mtu{})", self.less_net()),
            Builtin::LocalIp => "core->address".into(),
            Builtin::Min => choose(format!("{} < {}", v[1], v[0]), &v[1], &v[0]),
            Builtin::Max => choose(format!("{} < {}", v[0], v[1]), &v[1], &v[0]),
            Builtin::SeqMin => choose(format!("carrick_seq_lt({}, {})", v[1], v[0]), &v[1], &v[0]),
            Builtin::SeqMax => choose(format!("carrick_seq_lt({}, {})", v[0], v[1]), &v[1], &v[0]),
            Builtin::Abs => {
                let negated = format!("({c})(0u - ({}){})", unsigned(ty), v[0]);
                choose(format!("{} < 0", v[0]), &negated, &v[0])
            }
            Builtin::KeyedHash => self.keyed_hash(args, &v),
            Builtin::AddrSkip => format!("carrick_addr_skip({}, {})", v[0], v[1]),
            Builtin::AddrIsNone => format!("({}.ptr == NULL)", v[0]),
        }
    }

    fn keyed_hash(&self, args: &[Expr], values: &[String]) -> String {
        let mut words = Vec::new();
        for (arg, value) in args.iter().zip(values) {
            match &arg.ty {
                Ty::Id(id) => {
                    let parts = &self.p.ids[id.index()].parts;
                    words.extend(parts.iter().map(|p| format!("(uint64_t){value}.{}", safe(&p.name))));
                }
                _ => words.push(format!("(uint64_t){value}")),
            }
        }
        let n = words.len();
        format!("((uint32_t)carrick_siphash(core->key, (const uint64_t[]){{{}}}, {n}))", words.join(", "))
    }

    /// A call of the window's module, with the arguments after its own.
    pub(crate) fn window_call(&self, wnd: &Place, name: &str, args: &[String]) -> String {
        if self.kernel {
            return self.window_call_apart(wnd, name, args);
        }
        let at = self.place(wnd).text;
        let Ty::Wnd { size, runs } = &wnd.ty else { return String::new() };
        let all = match runs {
            Some(runs) => {
                let mut all = vec![format!("&{at}.wnd")];
                if name != "reset" {
                    all.push(format!("{at}.runs"));
                }
                match name {
                    "set" | "unset" => all.extend([format!("{size}u"), format!("{runs}u")]),
                    "first_set" => all.push(format!("{size}u")),
                    _ => {}
                }
                all
            }
            None => {
                let by_pointer = name == "slide" || name == "reset";
                let head = if by_pointer { format!("&{at}.head") } else { format!("{at}.head") };
                let mut all = vec![head, format!("{at}.bits"), format!("{}u", window_words(*size))];
                if name != "reset" {
                    all.push(format!("{size}u"));
                }
                all
            }
        };
        let family = if runs.is_some() { "wnd" } else { "bits" };
        let all: Vec<String> = all.into_iter().chain(args.iter().cloned()).collect();
        format!("carrick_{family}_{name}({})", all.join(", "))
    }

    /// The value of a place: zero where an index is outside.
    pub(crate) fn load(&self, place: &Place) -> String {
        let c = self.place(place);
        match c.guard {
            None => c.text,
            Some(guard) => {
                let zero = if place.ty.is_scalar() {
                    self.literal(0, &place.ty)
                } else {
                    format!("({}){{0}}", self.names.ctype(&place.ty))
                };
                format!("({guard} ? {} : {zero})", c.text)
            }
        }
    }

    pub(crate) fn local(&self, id: ir::LocalId) -> String {
        if self.kernel && self.in_frame(id) { self.frame_member(id) } else { self.c_name(id) }
    }

    /// The local's own name.
    pub(crate) fn c_name(&self, id: ir::LocalId) -> String {
        self.function.map_or_else(String::new, |f| safe(&f.locals[id.index()].name))
    }

    /// What stands to the left of `=` where a local begins to live with a value.
    pub(crate) fn declared_local(&self, id: ir::LocalId) -> String {
        let name = self.local(id);
        if self.kernel && self.in_frame(id) {
            return name;
        }
        self.names.declaration(self.local_type(id), &name)
    }

    pub(crate) fn local_type(&self, id: ir::LocalId) -> &Ty {
        self.function.map_or(&Ty::Void, |f| &f.locals[id.index()].ty)
    }

    /// Whether the local is a pointer to what the chain works on.
    pub(crate) fn is_reference(&self, id: ir::LocalId) -> bool {
        self.function.is_some_and(|f| id.0 < f.params && f.locals[id.index()].ty.is_by_ref())
    }

    /// An index of which it is known that it is below `n`, where the verifier sees it too.
    pub(crate) fn bounded(&self, index: String, n: u32) -> String {
        if self.kernel { format!("carrick_at({index}, {n}u)") } else { index }
    }

    /// The address of a local of an aggregate type.
    pub(crate) fn address(&self, id: ir::LocalId) -> String {
        if self.is_reference(id) { self.local(id) } else { format!("&{}", self.local(id)) }
    }

    pub(crate) fn place(&self, place: &Place) -> CPlace {
        let mut text = self.local(place.root);
        let mut ty = self.local_type(place.root).clone();
        let mut arrow = self.is_reference(place.root);
        let mut guards = Vec::new();
        for proj in &place.path {
            let dot = if std::mem::take(&mut arrow) { "->" } else { "." };
            match proj {
                Proj::Field(at) => {
                    let (name, field) = self.field(&ty, *at);
                    text = format!("{text}{dot}{}", safe(&name));
                    ty = field;
                }
                Proj::Index(index) => {
                    let mut index_text = self.expr(index);
                    if let Ty::Array(element, n) = ty {
                        if !matches!(index.kind, ExprKind::Lit(v) if v < u64::from(n)) {
                            guards.push(format!("{index_text} < {n}u"));
                            index_text = self.bounded(index_text, n);
                        }
                        ty = *element;
                    }
                    text = format!("{text}[{index_text}]");
                }
                Proj::Elem(index) => {
                    let index_text = self.expr(index);
                    guards.push(format!("{index_text} < {text}{dot}len"));
                    let bounded = self.bounded(index_text, list_bound(&ty));
                    text = format!("{text}{dot}items[{bounded}]");
                    if let Ty::List(element, _, _) = ty {
                        ty = *element;
                    }
                }
                Proj::CtxId => {
                    text = format!("{text}{dot}id__");
                    if let Ty::Context(ctx) = ty {
                        ty = Ty::Id(self.p.contexts[ctx.index()].id);
                    }
                }
                Proj::Token => text = format!("{text}{dot}token__"),
                Proj::FlowId => {
                    text = format!("{text}{dot}flow__");
                    ty = place.ty.clone();
                }
                Proj::Net(at) => {
                    let member = net_member(self.p.net_header.fields[*at as usize].field);
                    let through = if ty == Ty::NetHeader { "" } else { "net__." };
                    text = format!("{text}{dot}{through}{member}");
                }
                Proj::OptField(opt, at) => {
                    let def = &self.p.opts[opt.index()];
                    text = format!(
                        "{text}{dot}opts__.{}.{}",
                        safe(&def.name),
                        safe(&def.fields[*at as usize].name)
                    );
                }
                Proj::PayloadLen => text = format!("{text}{dot}payload__.len"),
                Proj::PayloadAddr => {
                    // The packet is read-only, but an address is also what applications give to be written.
                    text = format!(
                        "((struct carrick_addr){{(uint8_t *)(uintptr_t){text}{dot}payload__.ptr, {text}{dot}payload__.len, 0}})"
                    );
                }
            }
        }
        let guard = (!guards.is_empty()).then(|| guards.join(" && "));
        CPlace { text, guard }
    }

    fn field(&self, ty: &Ty, at: u32) -> (String, Ty) {
        let at = at as usize;
        let p = self.p;
        let field = match ty {
            Ty::Struct(id) => &p.structs[id.index()].fields[at],
            Ty::Scratch(id) => &p.scratchpads[id.index()].fields[at],
            Ty::Id(id) => &p.ids[id.index()].parts[at],
            Ty::Event(id) => &p.events[id.index()].fields[at],
            Ty::Context(id) => &p.contexts[id.index()].fields[at],
            Ty::Blueprint(id) => {
                let field = &p.blueprints[id.index()].fields[at];
                return (field.name.clone(), field.ty.clone());
            }
            _ => return (String::new(), Ty::Void),
        };
        (field.name.clone(), field.ty.clone())
    }
}

/// The member of `struct carrick_ip`.
pub fn net_member(field: NetField) -> &'static str {
    match field {
        NetField::SrcIp => "src",
        NetField::DstIp => "dst",
        NetField::Protocol => "protocol",
        NetField::Ttl => "ttl",
        NetField::Tos => "tos",
        NetField::PayloadLen => "payload_len",
        NetField::Interface => "interface",
    }
}

/// Types that C promotes to `int`.
fn narrow(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { bits: 8 | 16, .. } | Ty::Status | Ty::Enum(_))
}

/// The unsigned type in which arithmetic of this type is done.
fn unsigned(ty: &Ty) -> &'static str {
    if arith::shape(ty).0 == 64 { "uint64_t" } else { "uint32_t" }
}

pub fn list_bound(ty: &Ty) -> u32 {
    if let Ty::List(_, n, _) = ty { *n } else { 0 }
}

pub fn is_runs(ty: &Ty) -> bool {
    matches!(ty, Ty::Wnd { runs: Some(_), .. })
}
