// Owns the rules for names: methods, steps, inputs, fields, types, secrets and variables of code.

export const METHOD_NAME = /^[a-z][a-z0-9-]{0,62}[a-z0-9]$/;
/** Steps, inputs and the variables of code. */
export const STEP_NAME = /^[a-z][a-z0-9_]{0,63}$/;
const FIELD_NAME = /^[A-Za-z_]\w{0,63}$/;
export const TYPE_NAME = /^[A-Z]\w{0,63}$/;
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{1,63}$/;

const TAKEN_VARIABLES =
  /^(PATH|HOME|SHELL|USER|LANG|TZ|TMPDIR|NODE_OPTIONS|NODE_PATH|BASH_ENV|ENV|IFS|PYTHON[A-Z0-9_]*|LD_.*|DYLD_.*|STEP_.*)$/;

/** True for environment names the child process needs for itself. */
export function isTakenSecretName(name: string): boolean {
  return TAKEN_VARIABLES.test(name);
}

/**
 * A field name that every JavaScript reader of the value can keep. `__proto__` as a key is dropped or obeyed by too many
 * libraries to let it be part of an interface.
 */
export function isFieldName(name: string): boolean {
  return FIELD_NAME.test(name) && name !== '__proto__';
}

const JAVASCRIPT =
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield';
const PYTHON =
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield';
// `step` and `lib` are given to code; the roots of expressions would confuse the reader of the code.
const OURS = 'step lib inputs steps secrets run';

const RESERVED = new Set(`${JAVASCRIPT} ${PYTHON} ${OURS}`.split(' '));

/** True for a name usable as a variable in JavaScript and Python code alike. */
export function isVariableName(name: string): boolean {
  return STEP_NAME.test(name) && !RESERVED.has(name);
}
