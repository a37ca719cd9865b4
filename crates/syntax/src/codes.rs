// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codes of the lexer and the parser: 1 to 199. A number is never used again for something else.

use crate::diag::{Code, code_table};

code_table! {
    STRANGE_CHARACTER = 1, "a character that is not part of the language", "0001";
    UNTERMINATED_COMMENT = 2, "a comment without an end", "0002";
    NUMBER_TOO_LARGE = 3, "a number that does not fit 64 bits", "0003";
    UNKNOWN_UNIT = 4, "an unknown unit", "0004";
    MALFORMED_NUMBER = 5, "a malformed number", "0005";
    FLOATING_POINT = 6, "floating point", "0006";
    STRING = 7, "a string", "0007";
    EXPECTED = 10, "something else was expected", "0010";
    MISSING_SEMICOLON = 11, "a missing semicolon", "0011";
    UNCLOSED = 12, "a bracket that is not closed", "0012";
    NOT_A_DECLARATION = 13, "not a declaration", "0013";
    NO_LOOP = 14, "a loop without a bound", "0014";
    C_STYLE_FOR = 15, "a C-style for loop", "0015";
    POINTER = 16, "a pointer", "0016";
    ASSIGNMENT_IN_EXPRESSION = 17, "an assignment in an expression", "0017";
    ARROW = 18, "`->` where `.` is meant", "0018";
    NOT_IN_THE_LANGUAGE = 19, "a statement that C has and this language does not", "0019";
    TOO_DEEP = 20, "nesting too deep", "0020";
    ELSE_WITHOUT_IF = 21, "an `else` without its `if`", "0021";
    MISSING_COMMA = 22, "a missing comma", "0022";
    EVENT_WITHOUT_KIND = 23, "an event without a kind", "0023";
    PARAM_WITHOUT_RANGE = 24, "a parameter without a range", "0024";
    TIMER_WITHOUT_EVENT = 25, "a timer without an event", "0025";
    ENUM_WITHOUT_TYPE = 26, "an enum without a type", "0026";
    CONST_WITHOUT_VALUE = 27, "a constant without a value", "0027";
    MISSING_ARROW = 28, "a chain without an arrow", "0028";
    CHAIN_WITHOUT_BRACES = 29, "a chain without braces", "0029";
    C_CAST = 30, "a C-style conversion", "0030";
    PREFIX_STEP = 31, "`++` before a variable", "0031";
    WORD_OPERATOR = 32, "an operator as a word", "0032";
    CONDITION_PARENTHESES = 33, "a condition without parentheses", "0033";
    FUNCTION_WITHOUT_BODY = 34, "a function without a body", "0034";
    KEYWORD_BEFORE_TYPE = 35, "a keyword before the type of a variable", "0035";
    PREPROCESSOR = 36, "a preprocessor directive", "0036";
    ARRAY_BEHIND_TYPE = 37, "an array whose length is after its type", "0037";
    LOOP_WITHOUT_TYPE = 38, "a loop whose variable has no type", "0038";
    TIMER_OUTSIDE_CONTEXT = 39, "a timer outside of a context", "0039";
    FUNCTION_WITHOUT_TYPE = 40, "a function without a type", "0040";
    BRANCH_AFTER_ELSE = 41, "a branch after `else`", "0041";
}
