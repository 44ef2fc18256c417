// An error as the worker gets it: kind, message, and the lines of the author's own code.

const STACK_LINES_MAX = 8;
const MESSAGE_CHARACTERS_MAX = 4000;

/** `thrown` may be anything, even an object whose getters throw. */
export function reportOf(thrown, codeDir) {
  try {
    if (!(thrown instanceof Error)) return { kind: 'exception', message: cut(String(thrown)) };
    const kind = thrown.stepKind ?? 'exception';
    const named = thrown.name && thrown.name !== 'Error' && thrown.stepKind === undefined;
    const stack = String(thrown.stack ?? '')
      .split('\n')
      .filter((line) => line.includes(codeDir))
      .slice(0, STACK_LINES_MAX)
      .map((line) => line.trim().replace(/(?:file:\/\/)?\/[^\s()]*\/([\w]+)\.mjs/g, '$1'));
    return {
      kind,
      message: cut(`${named ? `${thrown.name}: ` : ''}${thrown.message}`),
      line: thrown.stepLine ?? lineIn(thrown.stack, codeDir),
      stack: stack.length > 0 ? cut(stack.join('\n')) : undefined,
      retry: typeof thrown.retry === 'boolean' ? thrown.retry : undefined,
    };
  } catch {
    return { kind: 'exception', message: 'the step threw a value that cannot be shown' };
  }
}

/** The first line number that a stack names in `place`, or undefined. */
export function lineIn(stack, place) {
  for (const line of String(stack).split('\n')) {
    const at = line.indexOf(place);
    const found = at === -1 ? null : /:(\d+)/.exec(line.slice(at + place.length));
    if (found !== null) return Number(found[1]);
  }
  return undefined;
}

/** An error of the author's code before any of it ran. */
export function asSyntaxFailure(error, file) {
  return Object.assign(new Error(error.message), {
    stepKind: 'syntax',
    stepLine: lineIn(error.stack, file) || undefined,
  });
}

function cut(text) {
  return text.length > MESSAGE_CHARACTERS_MAX ? `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…` : text;
}
