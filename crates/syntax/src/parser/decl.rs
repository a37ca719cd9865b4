// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations.

use super::cursor::{Parsed, Parser, Reported};
use crate::ast::*;
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::{TokenKind, begins_line};
use crate::span::Span;
use crate::suggest::nearest;

/// The words that begin a declaration.
const KEYWORDS: [&str; 28] = [
    "import",
    "const",
    "param",
    "require",
    "enum",
    "struct",
    "id",
    "event",
    "context",
    "global",
    "scratchpad",
    "scratchpad_t",
    "net_header",
    "opt_t",
    "opt_union",
    "opt_list",
    "frame_union",
    "pkt_bp",
    "seg_rule",
    "coalescing_rule",
    "machine",
    "dispatch",
    "interface",
    "deploy",
    "layout",
    "feature",
    "extend",
    "void",
];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        loop {
            self.skip_last_doc();
            if self.token().kind == TokenKind::Eof {
                return file;
            }
            let before = self.at;
            self.links = 0;
            let docs = self.docs_ahead();
            if self.is_word_at(docs, "import") && !self.is_ident_at(docs + 1) {
                self.at += docs;
                if let Ok(path) = self.import_decl() {
                    file.imports.push(path);
                } else {
                    self.skip_item(before);
                }
                continue;
            }
            match self.item() {
                Ok(item) => file.items.push(item),
                Err(Reported) => self.skip_item(before),
            }
        }
    }

    fn import_decl(&mut self) -> Parsed<Ident> {
        self.advance();
        if self.token().kind != TokenKind::Path {
            return Err(self.expected("a path between `\"`"));
        }
        let span = self.advance().span;
        let name = self.text_of(span).trim_matches('"').to_owned();
        self.semicolon()?;
        Ok(Ident { name, span })
    }

    /// To the next word that begins a declaration outside braces, or past the `}` that ends this one.
    fn skip_item(&mut self, before: usize) {
        let mut depth = 0_u32;
        // What was read of the declaration may have opened braces.
        for token in &self.tokens[before..self.at] {
            match token.kind {
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if self.at == before {
            self.advance();
        }
        loop {
            match self.token().kind {
                TokenKind::Eof => return,
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.advance();
                        self.eat(";");
                        return;
                    }
                }
                TokenKind::Punct(";") if depth == 0 => {
                    self.advance();
                    return;
                }
                TokenKind::DocComment if depth == 0 => return,
                TokenKind::Ident
                    if depth == 0 && self.begins_line() && KEYWORDS.contains(&self.text_of(self.span())) =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// A declaration at the very beginning of a line, behind its documentation: inside braces, a sign that one is not closed.
    pub(super) fn declaration_at_margin(&self) -> bool {
        let at = self.docs_ahead();
        let span = self.ahead(at).span;
        let start = span.start as usize;
        if !self.is_ident_at(at) || start > 0 && self.text.as_bytes()[start - 1] != b'\n' {
            return false;
        }
        let path = self.ahead(at + 1).kind == TokenKind::Path;
        let keyword = KEYWORDS.contains(&self.text_of(span))
            && (self.is_ident_at(at + 1) || path || self.is_word_at(at, "deploy"));
        keyword || self.function_at(at)
    }

    /// `T f(P p` or `T f() {`: no variable is made from these.
    fn function_at(&self, at: usize) -> bool {
        let named = self.is_ident_at(at) && self.is_ident_at(at + 1) && self.is_at(at + 2, "(");
        let takes = self.is_ident_at(at + 3) && self.is_ident_at(at + 4);
        named && (takes || self.is_at(at + 3, ")") && self.is_at(at + 4, "{"))
    }

    fn begins_line(&self) -> bool {
        begins_line(&self.text[..self.span().start as usize])
    }

    pub(super) fn doc(&mut self) -> String {
        let mut lines = Vec::new();
        while self.token().kind == TokenKind::DocComment {
            let span = self.advance().span;
            let line = self.text_of(span).trim_start_matches('/');
            lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
        }
        lines.join("\n")
    }

    pub(super) fn item(&mut self) -> Parsed<Item> {
        let doc = self.doc();
        let start = self.span();
        let kind = self.item_kind()?;
        Ok(Item { doc, kind, span: self.span_from(start) })
    }

    fn item_kind(&mut self) -> Parsed<ItemKind> {
        if self.token().kind != TokenKind::Ident {
            return Err(self.not_a_declaration());
        }
        // A word that begins a declaration, unless it is the type of a function: `id f(...)` has a name then `(`,
        // and so has the declaration of an id, which ends in `;` instead of a body.
        let word = self.text_of(self.span()).to_owned();
        match word.as_str() {
            "const" => self.const_decl(),
            "param" => self.param_decl(),
            "require" => self.require_decl(),
            "enum" => self.enum_decl(),
            "id" => self.id_decl(),
            "event" => self.event_decl(),
            "context" => self.context_decl(None),
            "global" => {
                let global = self.advance().span;
                if !self.is_word("context") {
                    return Err(self.not_a_declaration());
                }
                self.context_decl(Some(global))
            }
            "struct" => self.plain(|name, fields| ItemKind::Struct { name, fields }),
            "scratchpad" | "scratchpad_t" => self.plain(|name, fields| ItemKind::Scratchpad { name, fields }),
            "net_header" => self.net_header_decl(),
            "opt_t" => self.plain(|name, fields| ItemKind::Opt { name, fields }),
            "opt_list" => self.plain(|name, fields| ItemKind::OptList { name, fields }),
            "opt_union" => self.union_decl(|name, members| ItemKind::OptUnion { name, members }),
            "frame_union" => self.union_decl(|name, members| ItemKind::FrameUnion { name, members }),
            "pkt_bp" => self.blueprint_decl(),
            "seg_rule" => self.seg_rule_decl(),
            "coalescing_rule" => self.coalescing_rule_decl(),
            "machine" => self.machine_decl(),
            "dispatch" => self.dispatch_decl(),
            "interface" => self.interface_decl(),
            "deploy" => self.deploy_decl(),
            "layout" => self.layout_decl(),
            "feature" => self.feature_decl(),
            "extend" if self.is_at(2, ".") => self.extension_decl(),
            _ => self.function_decl(),
        }
    }

    fn not_a_declaration(&mut self) -> Reported {
        let found = self.found();
        let here = self.span();
        let mut diagnostic = Diagnostic::error(
            codes::NOT_A_DECLARATION,
            format!("a declaration cannot begin with {found}"),
            here,
            "not the beginning of a declaration",
        );
        let word = self.text_of(here).to_owned();
        diagnostic = match nearest(&word, KEYWORDS) {
            Some(near) => diagnostic.fix(format!("did you mean `{near}`?"), here, near),
            None => diagnostic.mend("begin with import, const, param, require, enum, struct, id, event, context, scratchpad, net_header, pkt_bp, opt_t, seg_rule, machine, dispatch, interface, deploy, layout, feature, or the type of a function"),
        };
        self.report(diagnostic)
    }

    fn global_variable(&mut self) -> Reported {
        let here = self.span();
        self.report(
            Diagnostic::error(
                codes::NOT_A_DECLARATION,
                "there are no global variables",
                here,
                "a variable outside of a function",
            )
            .note("state belongs to a context, so that every target knows to which instance it belongs")
            .mend("make it a field of a context, a `const` or a `param`"),
        )
    }

    /// `keyword name { fields }`
    fn plain(&mut self, make: impl FnOnce(Ident, Vec<Field>) -> ItemKind) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let fields = self.fields()?;
        Ok(make(name, fields))
    }

    pub(super) fn open_brace(&mut self) -> Parsed<Span> {
        let open = self.span();
        self.expect("{")?;
        Ok(open)
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        let open = self.open_brace()?;
        let lists = self.braced(open, Self::field)?;
        self.eat(";");
        Ok(lists.into_iter().flatten().collect())
    }

    /// One declaration of fields: `T a, b;` declares two.
    pub(super) fn field(&mut self) -> Parsed<Vec<Field>> {
        let doc = self.doc();
        let start = self.span();
        if self.is_word("timer_t") {
            return Err(self.timer_outside());
        }
        if self.eat("..") {
            return self.fields_taken(doc, start);
        }
        let optional = self.optional_word();
        let ty = self.ty()?;
        let mut fields = Vec::new();
        loop {
            self.no_array_behind_type()?;
            let name = self.ident("a field's name")?;
            let array = self.array_suffix()?;
            let bits = if self.eat(":") { Some(self.expr_above_cond()?) } else { None };
            let range = if self.eat_word("in") { Some(self.range_above_cond()?) } else { None };
            let align = if self.eat_word("align") { Some(self.expr_above_cond()?) } else { None };
            let init = if self.eat("=") { Some(self.expr()?) } else { None };
            let span = self.span_from(start);
            fields.push(Field {
                doc: doc.clone(),
                ty: ty.clone(),
                name,
                array,
                bits,
                range,
                align,
                init,
                presence: Vec::new(),
                optional,
                spread: false,
                span,
            });
            if !self.eat(",") {
                break;
            }
        }
        self.semicolon()?;
        Ok(fields)
    }

    /// `optional`, if a type and a name follow: else it is a type.
    fn optional_word(&mut self) -> Option<Span> {
        let follows = self.is_ident_at(2) || self.is_at(2, "<") || self.is_at(2, "(");
        let begins = self.is_word("optional") && self.is_ident_at(1) && follows;
        begins.then(|| self.advance().span)
    }

    /// `..name;`, behind the dots.
    fn fields_taken(&mut self, doc: String, start: Span) -> Parsed<Vec<Field>> {
        let name = self.ident("the name of what has these fields")?;
        let span = self.span_from(start);
        self.semicolon()?;
        let ty = Type { kind: TypeKind::Name(name.name.clone()), span: name.span };
        Ok(vec![Field { doc, spread: true, span, ..Field::plain(ty, name) }])
    }

    fn const_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let ty = self.ty()?;
        let name = self.ident("a name")?;
        if self.eat("[") {
            return self.const_array(ty, name);
        }
        if self.is(";") {
            let mend = "write `const T NAME = value;`";
            return Err(self.lacks(codes::CONST_WITHOUT_VALUE, "a constant needs a value", mend));
        }
        self.expect("=")?;
        let value = self.expr()?;
        self.semicolon()?;
        Ok(ItemKind::Const { ty, name, value })
    }

    /// `const T NAME[` is behind.
    fn const_array(&mut self, ty: Type, name: Ident) -> Parsed<ItemKind> {
        let len = self.expr()?;
        self.expect("]")?;
        self.expect("=")?;
        self.expect("{")?;
        let mut values = vec![self.expr()?];
        while self.eat(",") && !self.is("}") {
            values.push(self.expr()?);
        }
        self.expect("}")?;
        self.eat(";");
        Ok(ItemKind::ConstArray { ty, name, len, values })
    }

    fn param_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let ty = self.ty()?;
        let name = self.ident("a name")?;
        self.expect("=")?;
        let value = self.expr()?;
        if !self.eat_word("in") {
            let mend = "write `param T name = value in lowest..highest;`";
            return Err(self.lacks(codes::PARAM_WITHOUT_RANGE, "a parameter needs a range", mend));
        }
        let (lo, hi) = self.range()?;
        self.semicolon()?;
        Ok(ItemKind::Param { ty, name, value, lo, hi })
    }

    fn require_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let cond = self.expr()?;
        self.semicolon()?;
        Ok(ItemKind::Require { cond })
    }

    /// `lo..hi`, behind which `=` may stand
    fn range_above_cond(&mut self) -> Parsed<(Expr, Expr)> {
        let lo = self.expr_above_cond()?;
        self.expect("..")?;
        Ok((lo, self.expr_above_cond()?))
    }

    /// `lo..hi`
    pub(super) fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let lo = self.expr()?;
        self.expect("..")?;
        Ok((lo, self.expr()?))
    }

    fn enum_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        if self.is("{") {
            let mend = "write `enum name : uint8 { A, B }`, with an unsigned integer type";
            return Err(self.lacks(codes::ENUM_WITHOUT_TYPE, "an enum needs a type", mend));
        }
        self.expect(":")?;
        let repr = self.ty()?;
        self.open_brace()?;
        let variants = self.comma_list("}", |p| {
            p.doc();
            let name = p.ident("a name")?;
            let value = if p.eat("=") { Some(p.expr()?) } else { None };
            Ok(Variant { name, value })
        })?;
        self.eat(";");
        Ok(ItemKind::Enum { name, repr, variants })
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect("(")?;
        self.comma_list(")", |p| Ok(Param { ty: p.ty()?, name: p.ident("a parameter's name")? }))
    }

    fn id_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let parts = self.params()?;
        self.semicolon()?;
        Ok(ItemKind::Id { name, parts })
    }

    fn event_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        if self.is("{") {
            let mend =
                "write `event name : net_event { }`, or app_event, timer_event, sent_event, flow_event";
            return Err(self.lacks(codes::EVENT_WITHOUT_KIND, "an event needs a kind", mend));
        }
        self.expect(":")?;
        let kind =
            self.ident("the kind of event: app_event, net_event, timer_event, sent_event or flow_event")?;
        let fields = self.fields()?;
        Ok(ItemKind::Event { name, kind, fields })
    }

    fn context_decl(&mut self, global: Option<Span>) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let by = if self.eat_word("by") { Some(self.ident("the name of an id")?) } else { None };
        let open = self.open_brace()?;
        let mut fields = Vec::new();
        let mut timers = Vec::new();
        let members = self.braced(open, |p| {
            if p.timer_ahead() { p.timer().map(Member::Timer) } else { p.field().map(Member::Fields) }
        })?;
        for member in members {
            match member {
                Member::Timer(timer) => timers.push(timer),
                Member::Fields(more) => fields.extend(more),
            }
        }
        self.eat(";");
        Ok(ItemKind::Context { name, global, by, fields, timers })
    }

    /// Whether, after documentation, `timer_t` follows.
    fn timer_ahead(&self) -> bool {
        self.is_word_at(self.docs_ahead(), "timer_t")
    }

    /// How many lines of documentation follow.
    pub(super) fn docs_ahead(&self) -> usize {
        (0..).take_while(|n| self.ahead(*n).kind == TokenKind::DocComment).count()
    }

    fn timer_outside(&mut self) -> Reported {
        let here = self.span();
        self.report(
            Diagnostic::error(
                codes::TIMER_OUTSIDE_CONTEXT,
                "a timer belongs to a context",
                here,
                "not in one",
            )
            .note("it raises its event on that context, and ends with it")
            .mend("declare it in the context"),
        )
    }

    fn timer(&mut self) -> Parsed<Timer> {
        let doc = self.doc();
        let start = self.advance().span;
        let name = self.ident("the timer's name")?;
        let array = self.array_suffix()?;
        if !self.eat("->") {
            let mend = "write `timer_t name -> a_timer_event;`";
            return Err(self.lacks(codes::TIMER_WITHOUT_EVENT, "a timer needs an event", mend));
        }
        let event = self.ident("a timer event")?;
        self.semicolon()?;
        Ok(Timer { doc, name, array, event, span: self.span_from(start) })
    }

    /// `keyword name { members }`
    fn union_decl(&mut self, make: impl FnOnce(Ident, Vec<Ident>) -> ItemKind) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        self.open_brace()?;
        let members = self.comma_list("}", |p| p.ident("the name of a member"))?;
        self.eat(";");
        Ok(make(name, members))
    }

    fn seg_rule_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let params = if self.eat("(") { self.comma_list(")", |p| p.ident("a name"))? } else { Vec::new() };
        self.expect("[")?;
        let blueprint = self.ident("a blueprint")?;
        self.expect("::")?;
        let field = self.ident("a field of the blueprint")?;
        self.expect(",")?;
        let first = self.expr()?;
        self.expect(",")?;
        let mid = self.expr()?;
        let last = if self.eat(",") { Some(self.expr()?) } else { None };
        self.expect("]")?;
        self.semicolon()?;
        Ok(ItemKind::SegRule { name, params, blueprint, field, first, mid, last })
    }

    fn dispatch_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let open = self.open_brace()?;
        let arms = self.braced(open, Self::arm)?;
        self.eat(";");
        Ok(ItemKind::Dispatch { name, arms })
    }

    fn arm(&mut self) -> Parsed<Arm> {
        self.doc();
        let start = self.span();
        let event = self.ident("an event")?;
        let fallback = self.fallback()?;
        if self.is("{") {
            let here = self.span();
            self.report(
                Diagnostic::error(codes::MISSING_ARROW, "a `->` is missing", here, "the chain of the event")
                    .fix("add it", Span::new(here.start, here.start), "-> "),
            );
        } else {
            self.expect("->")?;
        }
        let chain = self.chain()?;
        let absent = if self.eat_word("absent") { Some(self.chain()?) } else { None };
        self.semicolon()?;
        Ok(Arm { event, fallback, chain, absent, span: self.span_from(start) })
    }

    fn fallback(&mut self) -> Parsed<Option<Fallback>> {
        let start = self.span();
        if !self.eat_word("else") {
            return Ok(None);
        }
        if !self.eat_word("at") {
            return Err(self.expected("`at`"));
        }
        let id = self.ident("an id")?;
        self.expect("(")?;
        let args = self.comma_list(")", Self::value)?;
        Ok(Some(Fallback { id, args, span: self.span_from(start) }))
    }

    fn chain(&mut self) -> Parsed<Vec<Step>> {
        if self.is_ident_at(0) {
            return Err(self.chain_without_braces());
        }
        self.expect("{")?;
        self.comma_list("}", Self::step)
    }

    fn chain_without_braces(&mut self) -> Reported {
        let here = self.span();
        let diagnostic = Diagnostic::error(
            codes::CHAIN_WITHOUT_BRACES,
            "a chain needs braces",
            here,
            "the first processor",
        );
        let name = self.text_of(here).to_owned();
        let alone = self.is_at(1, ";");
        self.report(if alone {
            diagnostic.fix("add them", here, format!("{{ {name} }}"))
        } else {
            diagnostic.mend("write `an_event -> { first, second };`")
        })
    }

    fn step(&mut self) -> Parsed<Step> {
        let name = self.ident("an event processor")?;
        let side = match () {
            () if self.eat_word("after") => Side::After,
            () if self.eat_word("before") => Side::Before,
            () => return Ok(Step { name, place: None }),
        };
        Ok(Step { name, place: Some(Place { side, of: self.ident("an event processor of the chain")? }) })
    }

    fn interface_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let name = self.ident("a name")?;
        let open = self.open_brace()?;
        let calls = self.braced(open, Self::interface_call)?;
        self.eat(";");
        Ok(ItemKind::Interface { name, calls })
    }

    fn interface_call(&mut self) -> Parsed<InterfaceCall> {
        let doc = self.doc();
        let start = self.span();
        let name = self.ident("the call's name")?;
        self.expect("->")?;
        let event = self.ident("an app event")?;
        let target = if self.eat_word("at") {
            let id = self.ident("an id")?;
            self.expect("(")?;
            CallTarget::At { id, args: self.comma_list(")", Self::value)? }
        } else if self.eat_word("on") {
            CallTarget::On { context: self.ident("a context")? }
        } else {
            CallTarget::None
        };
        self.semicolon()?;
        Ok(InterfaceCall { doc, name, event, target, span: self.span_from(start) })
    }

    fn deploy_decl(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let open = self.open_brace()?;
        let calls = self.braced(open, |p| {
            p.doc();
            let call = p.expr()?;
            p.semicolon()?;
            Ok(call)
        })?;
        self.eat(";");
        Ok(ItemKind::Deploy { calls })
    }

    fn function_decl(&mut self) -> Parsed<ItemKind> {
        let looks_like_one =
            self.is_ident_at(1) || self.is_at(1, "<") || self.is_at(1, "*") || self.is_at(1, "(");
        let is_one = self.is_at(2, "(") || self.is_at(1, "<");
        if !looks_like_one || (!is_one && nearest(self.text_of(self.span()), KEYWORDS).is_some()) {
            return Err(self.not_a_declaration());
        }
        if self.is_ident_at(1) && (self.is_at(2, "=") || self.is_at(2, ";") || self.is_at(2, "[")) {
            return Err(self.global_variable());
        }
        if self.is_ident_at(1) && (self.is_at(2, "{") || self.is_at(2, ":")) {
            return Err(self.not_a_declaration());
        }
        // A window is a type with parentheses of its own.
        let nameless = self.is_at(1, "(") && !self.is_word("sliding_wnd");
        if nameless {
            let here = self.span();
            self.report(
                Diagnostic::error(
                    codes::FUNCTION_WITHOUT_TYPE,
                    "a function needs a return type",
                    here,
                    "only a name",
                )
                .fix("return nothing", Span::new(here.start, here.start), "void "),
            );
        }
        let ret = if nameless {
            // It is read as if it were said.
            Type { kind: TypeKind::Name("void".to_owned()), span: self.span() }
        } else {
            self.ty()?
        };
        let name = self.ident("the function's name")?;
        if !self.is("(") {
            return Err(self.expected("`(` and the function's parameters"));
        }
        let params = self.params()?;
        if self.is(";") {
            let mend =
                "give it a body here: declarations may be in any order, so a function needs no prototype";
            return Err(self.lacks(codes::FUNCTION_WITHOUT_BODY, "a function needs a body", mend));
        }
        let body = self.block()?;
        Ok(ItemKind::Function { ret, name, params, body })
    }
}

enum Member {
    Timer(Timer),
    Fields(Vec<Field>),
}
