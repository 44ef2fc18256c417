// Finds the steps of a method in its source by their names and indents: enough to put results beside lines, without
// loading the compiler. Pure.

export interface StepLine {
  /** From 1. */
  readonly line: number;
  /** Without the numbers of rounds, like `each/fetch`. */
  readonly path: string;
}

const NAMED = /^( *)- name: *(["']?)([A-Za-z0-9_-]+)\2 *(?:#.*)?$/;
const SECTION = /^(steps|on_failure|finally): *(?:#.*)?$/;

export function stepLines(source: string): StepLine[] {
  const found: StepLine[] = [];
  const above: { readonly indent: number; readonly name: string }[] = [];
  let isInSteps = false;
  for (const [at, text] of source.split(/\r?\n/).entries()) {
    if (/^[A-Za-z_]/.test(text)) {
      isInSteps = SECTION.test(text);
      above.length = 0;
      continue;
    }
    const [, spaces = '', , name = ''] = NAMED.exec(text) ?? [];
    if (!isInSteps || name === '') continue;
    while ((above.at(-1)?.indent ?? -1) >= spaces.length) above.pop();
    above.push({ indent: spaces.length, name });
    found.push({ line: at + 1, path: above.map((each) => each.name).join('/') });
  }
  return found;
}

/** The path without the numbers of rounds. */
export function withoutRounds(path: string): string {
  return path.replace(/\[[^\]]*\]/g, '');
}
