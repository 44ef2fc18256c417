// Owns the tree of what a page posted: texts by the places of their controls in the answer.

/** Of one page: more of them take too long to read and to show. */
export const CONTROLS_MAX = 2_000;
const NAME_CHARACTERS_MAX = 2_000;
const NAMES_MAX = 20;

/** The controls at and below one place of the answer. */
export interface Controls {
  /** Of this place itself. */
  readonly texts: readonly string[];
  /** Something is typed or chosen here or below. */
  readonly filled: boolean;
  /** Below, by the escaped name. */
  at(name: string): Controls;
  /** The rows with something in them, in the order of their numbers. */
  rows(): Controls[];
  /** Every text that is not blank, after its place below this one. */
  filledTexts(): string[];
}

export interface PostedControls {
  readonly root: Controls;
  /** A part was ignored. */
  readonly tooMany: boolean;
}

export const CONTROLS_TOO_MANY = `has more than ${CONTROLS_MAX} values`;

/** Names that are not places are ignored. */
export function postedControls(posted: Iterable<readonly [string, string]>): PostedControls {
  const root = new ControlNode();
  let count = 0;
  for (const [name, text] of posted) {
    if (!name.startsWith('/') || name.length > NAME_CHARACTERS_MAX) continue;
    const names = oneLineEnd(name)
      .slice(1)
      .split('/', NAMES_MAX + 1);
    if (names.length > NAMES_MAX) continue;
    count += 1;
    if (count > CONTROLS_MAX) return { root, tooMany: true };
    root.add(names, oneLineEnd(text));
  }
  return { root, tooMany: false };
}

/** Browsers send every end of a line as two characters. */
function oneLineEnd(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

class ControlNode implements Controls {
  readonly texts: string[] = [];
  readonly #below = new Map<string, ControlNode>();
  filled = false;

  at(name: string): Controls {
    return this.#below.get(name) ?? NONE;
  }

  add(names: readonly string[], text: string): void {
    const isFilled = text.trim() !== '';
    let controls: ControlNode = this;
    controls.filled ||= isFilled;
    for (const name of names) {
      const below = controls.#below.get(name) ?? new ControlNode();
      controls.#below.set(name, below);
      controls = below;
      controls.filled ||= isFilled;
    }
    controls.texts.push(text);
  }

  rows(): Controls[] {
    const rows = [...this.#below].filter(([name, controls]) => /^\d{1,6}$/.test(name) && controls.filled);
    return rows.sort(([a], [b]) => Number(a) - Number(b)).map(([, controls]) => controls);
  }

  filledTexts(): string[] {
    const found: string[] = [];
    this.#gather('', found);
    return found.sort();
  }

  #gather(at: string, found: string[]): void {
    for (const text of this.texts) if (text.trim() !== '') found.push(`${at}\n${text}`);
    for (const [name, controls] of this.#below) if (controls.filled) controls.#gather(`${at}/${name}`, found);
  }
}

const NONE: Controls = new ControlNode();
