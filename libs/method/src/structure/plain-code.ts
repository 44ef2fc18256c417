// Which node code is plain: it only computes. It names only its values, its own variables and built-ins of the language
// without outside effects, and ends when it returns. Running such code twice is not visible.
import { CodeNames, type CodeRule } from './code-names.ts';
import { parseNodeCode } from './code-syntax.ts';
import { COMPUTING_BUILT_IN, COMPUTING_NODES } from './computing-code.ts';

const CHARACTERS_MAX = 20_000;
const PLAIN: CodeRule = {
  nodes: COMPUTING_NODES,
  builtIn: COMPUTING_BUILT_IN,
  calls: new Map(),
  modules: new Set(),
  members: new Set(),
  mayWait: false,
};

/** Operators in a module, as which code is checked and run; comments in the script as which plain code runs. */
const COMMENTS_OF_SCRIPTS = /<!--|-->/;

/** `names`: the code's values. False also for code that does not parse. */
export function isPlainNodeCode(code: string, names: readonly string[]): boolean {
  if (code.length > CHARACTERS_MAX || COMMENTS_OF_SCRIPTS.test(code)) return false;
  const whole = parseNodeCode(code, names);
  if ('message' in whole) return false;
  return new CodeNames(names, PLAIN).areKnown(whole);
}
