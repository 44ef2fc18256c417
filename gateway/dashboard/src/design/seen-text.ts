// Splits a text into what is seen and signs for what is not: control characters, characters that turn the text around
// them, joiners that hide in words, and halves of pairs. Pure.

export interface SeenPart {
  readonly text: string;
  /** The names of what the signs replace; null: the text itself. */
  readonly unseen: string | null;
}

const TURNING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

const MANY_TURNING = new RegExp(TURNING, 'gu');
const NAMED_MAX = 5;

/** A JSON text with the same value in which nothing is unseen: such a character is written as its escape. */
export function seenJson(json: string): string {
  return json.replace(MANY_TURNING, (character) =>
    character === '\n' || character === '\t'
      ? character
      : [...Array(character.length).keys()].map((at) => escapeOf(character.charCodeAt(at))).join(''),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** `lines`: line breaks and tabs stay. Unseen characters that follow one another are one part. */
export function seenParts(text: string, lines: boolean): SeenPart[] {
  if (!TURNING.test(text)) return [{ text, unseen: null }];
  const parts: SeenPart[] = [];
  let [plain, signs, names]: [string, string, string[]] = ['', '', []];
  const end = () => {
    if (plain !== '') parts.push({ text: plain, unseen: null });
    if (signs !== '') parts.push({ text: signs, unseen: named(names) });
    [plain, signs, names] = ['', '', []];
  };
  for (const character of text) {
    const stays = !TURNING.test(character) || (lines && (character === '\n' || character === '\t'));
    if (stays ? signs !== '' : plain !== '') end();
    if (stays) {
      plain += character;
      continue;
    }
    signs += signOf(character);
    names.push(nameOf(character));
  }
  end();
  return parts;
}

function named(names: readonly string[]): string {
  const left = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(' ') + (left > 0 ? ` and ${left} more` : '');
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  // Unicode has a picture of each of the first control characters.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\u00b7';
}
