// A line of text being edited: the effect of each key, and the part that fits on the terminal.
import { cellsOf } from '@methods/method/report/terminal-text';
import { cutToWidth, plainText } from './plain-text.ts';

/** As `node:readline` describes a key. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly sequence?: string | undefined;
}

export interface LineWindow {
  readonly text: string;
  /** Cells before the cursor. */
  readonly cursor: number;
}

/** Longer text comes from a file or an editor. */
const CHARACTERS_MAX = 64 * 1024;

export class EditedLine {
  private characters: string[] = [];
  private at = 0;

  get text(): string {
    return this.characters.join('');
  }

  set text(text: string) {
    this.characters = cellsOf(text).map((cell) => cell.text);
    this.at = this.characters.length;
  }

  /** Returns false if the key does not edit the line. `typed`: the character, if the key is one. */
  press(typed: string | undefined, { name = '', ctrl = false, meta = false }: Key): boolean {
    if (ctrl) return this.control(name);
    switch (name) {
      case 'backspace':
        this.remove(this.at - 1, this.at);
        return true;
      case 'delete':
        this.remove(this.at, this.at + 1);
        return true;
      case 'left':
        this.at = Math.max(0, this.at - 1);
        return true;
      case 'right':
        this.at = Math.min(this.characters.length, this.at + 1);
        return true;
      case 'home':
        this.at = 0;
        return true;
      case 'end':
        this.at = this.characters.length;
        return true;
    }
    if (typed === undefined || meta || !isText(typed) || this.characters.length >= CHARACTERS_MAX) return false;
    this.insert(typed);
    return true;
  }

  /** Returns as much of the line around the cursor as fits, with nothing in it that acts on a terminal. */
  window(columns: number): LineWindow {
    const before = this.characters.slice(0, this.at);
    let width = widthOf(before);
    let from = 0;
    // The cursor itself takes a column.
    while (width > 0 && width >= columns) width -= widthOf([before[from++] ?? '']);
    return { text: cutToWidth(plainText(this.characters.slice(from).join('')), Math.max(0, columns)), cursor: width };
  }

  private control(name: string): boolean {
    switch (name) {
      case 'a':
        this.at = 0;
        return true;
      case 'e':
        this.at = this.characters.length;
        return true;
      case 'h':
        this.remove(this.at - 1, this.at);
        return true;
      case 'u':
        this.remove(0, this.at);
        return true;
      case 'k':
        this.remove(this.at, this.characters.length);
        return true;
      case 'w': {
        const word = /\S*\s*$/.exec(this.characters.slice(0, this.at).join(''))?.[0] ?? '';
        this.remove(this.at - cellsOf(word).length, this.at);
        return true;
      }
      default:
        return false;
    }
  }

  private insert(typed: string): void {
    const before = this.characters.slice(0, this.at).join('') + typed;
    const behind = this.characters.slice(this.at).join('');
    // Joined again: an accent typed after its letter forms one character with it.
    const head = cellsOf(before).map((cell) => cell.text);
    this.characters = [...head, ...cellsOf(behind).map((cell) => cell.text)];
    this.at = head.length;
  }

  private remove(from: number, to: number): void {
    const first = Math.max(0, from);
    this.characters.splice(first, to - first);
    this.at = first;
  }
}

function widthOf(characters: readonly string[]): number {
  return cellsOf(characters.join('')).reduce((sum, { width }) => sum + width, 0);
}

function isText(typed: string): boolean {
  const first = typed.codePointAt(0) ?? 0;
  return first >= 0x20 && first !== 0x7f && !(first >= 0x80 && first < 0xa0);
}
