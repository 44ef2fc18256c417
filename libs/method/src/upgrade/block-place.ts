// Owns places inside the code of a step: in a block scalar every line lost its indent, so offsets must be found by line.
import { rangeInside, type SourceScalar } from '../source/source-node.ts';
import { type Range, SourceText } from '../source/source-text.ts';

/** Offsets of a step's code to ranges of the file. */
export class BlockPlace {
  readonly #file: SourceText;
  readonly #node: SourceScalar;
  readonly #code: SourceText;
  /** Offsets at which the lines of the block start in the file. */
  #lines: number[] | undefined;

  constructor(file: SourceText, node: SourceScalar) {
    this.#file = file;
    this.#node = node;
    this.#code = new SourceText(node.text);
  }

  /** The range of `start` to `end`, both in one line of the code; the whole scalar where it is unknown. */
  of(start: number, end: number): Range {
    const node = this.#node;
    if (node.textAt !== null || node.contentAt === node.range[0]) return rangeInside(node, start, end);
    const { line, column } = this.#code.positionOf(start);
    this.#lines ??= this.#startsOfLines();
    const lineAt = this.#lines[line - 1] ?? node.contentAt;
    const indented = this.#file.lineAt(lineAt).replace(/\r$/, '');
    const plain = this.#code.lineAt(start);
    // The lines of a folded block were joined.
    if (!indented.endsWith(plain)) return node.range;
    const at = lineAt + indented.length - plain.length + column - 1;
    return [at, at + end - start];
  }

  #startsOfLines(): number[] {
    const starts: number[] = [];
    const { text } = this.#file;
    for (let at = this.#node.contentAt; at > 0 && at < this.#node.range[1]; at = text.indexOf('\n', at) + 1)
      starts.push(at);
    return starts;
  }
}
