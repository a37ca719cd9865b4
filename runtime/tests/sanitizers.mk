# SPDX-License-Identifier: MIT
# How C tests are built, each of them twice:
#   CHECKED          with AddressSanitizer and UndefinedBehaviorSanitizer by $(CC), automatic variables filled with a pattern,
#                    so that a test does not pass because of zeros that happen to lie on the stack
#   $(CLANG) MEMORY  with MemorySanitizer, which reports a decision that depends on memory that nothing has set.
#                    HAVE_MEMORY is empty where clang or its runtime library is missing
# A pattern counts as set, so the two do not go together.

CLANG ?= clang
PATTERN := -ftrivial-auto-var-init=pattern
HAVE_PATTERN := $(shell $(CC) $(PATTERN) -E -x c /dev/null >/dev/null 2>&1 && echo yes)
MEMORY := -fsanitize=memory -fsanitize-memory-track-origins -fno-sanitize-recover=all
HAVE_MEMORY := $(shell echo 'int main(void) { return 0; }' | $(CLANG) $(MEMORY) -x c - -o /dev/null 2>/dev/null && echo yes)
CHECKED := -fsanitize=address,undefined -fno-sanitize-recover=all $(if $(HAVE_PATTERN),$(PATTERN))

# Runs the executables of $(1) and $(2), which are built with CHECKED and with MEMORY.
define run_tests
@$(if $(HAVE_PATTERN),:,echo "SKIPPED: C tests with filled automatic variables ($(CC) has no $(PATTERN))")
@for t in $(1); do $$t || exit 1; done
@$(if $(HAVE_MEMORY),for t in $(2); do $$t >/dev/null || exit 1; done; echo "memory that nothing has set: none is used",\
	echo "SKIPPED: C tests under MemorySanitizer (clang or its runtime library is missing)")
endef
