// Owns what a shell scanner must know of single words: heredoc redirections, and the variables a script uses itself.

export interface Heredoc {
  /** The line that ends it. */
  readonly word: string;
  /** A quoted word: the body is taken as it is. */
  readonly quoted: boolean;
  /** `<<-`: tabs before the last line do not count. */
  readonly tabs: boolean;
}

const REDIRECTION = /<<(-?)[ \t]*((?:\\[^\n]|'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()'"\\`])+)/y;

/** The heredoc redirection at `at` and the offset behind it. */
export function heredocAt(text: string, at: number): { heredoc: Heredoc; end: number } | undefined {
  REDIRECTION.lastIndex = at;
  const [, dash, word] = REDIRECTION.exec(text) ?? [];
  if (word === undefined) return undefined;
  const plain = word.replace(/\\(.)|'([^']*)'|"([^"]*)"/g, (_, escaped, single, double) => escaped ?? single ?? double);
  return {
    heredoc: { word: plain, quoted: /['"\\]/.test(word), tabs: dash === '-' },
    end: REDIRECTION.lastIndex,
  };
}

/** Where a heredoc's body ends: the offset of its last line, or the end of the text. */
export function endOfHeredoc(text: string, from: number, heredoc: Heredoc): number {
  for (let at = from; at < text.length; ) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd < 0 ? text.length : lineEnd;
    let start = at;
    if (heredoc.tabs) while (text.charAt(start) === '\t') start++;
    if (end - start === heredoc.word.length && text.startsWith(heredoc.word, start)) return at;
    at = end + 1;
  }
  return text.length;
}

const USED = /\$\{?[#!]?([A-Za-z_]\w*)/g;
const ASSIGNED = /(?:^|[\s;(|`])([A-Za-z_]\w*)(?:\[[^\]\n]{0,300}\])?\+?=/g;
const DECLARED =
  /\b(?:for|select|read|local|declare|export|readonly|typeset|unset|mapfile|readarray|let|getopts)\b([^\n;|&]{0,300})/g;
// Only from the start of a word: in the middle of a long one every letter would be a start.
const FUNCTION = /\b([A-Za-z_]\w*)[ \t]*\(\)/g;

/** Variables and functions of a script. Too many are better than too few: an extra name only costs a `_2`. */
export function shellVariables(code: string): Set<string> {
  const found = new Set<string>();
  for (const pattern of [USED, ASSIGNED, FUNCTION])
    for (const match of code.matchAll(pattern)) found.add(match[1] ?? '');
  for (const match of code.matchAll(DECLARED))
    for (const word of match[1]?.match(/[A-Za-z_]\w*/g) ?? []) found.add(word);
  return found;
}
