// Masks a text that comes in chunks. It holds back text from which a form may still grow: an unfinished line that ends
// in the first few units of a form, and everything from the place where more than those were found. A finished line
// that merely ends in the same few characters as some form begins with is shown at once, as nearly all lines do; should
// the next line complete a secret, that one is masked from there on.
import type { MaskStream } from './mask.ts';
import type { Finding, SecretFinder } from './secret-finder.ts';

/** A longer beginning of a secret is treated as the secret. */
const HELD_MAX = 1024 * 1024;
const CONTEXT_MAX = 256;
/** Lines of several sources are kept whole, unless they are endless. */
const LINE_MAX = 4096;
/** The held text is read again once it has grown by a fraction of itself, so that single characters cost no more. */
const REREAD_MIN = 4096;

type Masked = (text: string, found: readonly Finding[], from: number, to: number) => string;

export class FinderStream implements MaskStream {
  /** The end of the shown text, where a secret may have begun; then the text not shown yet. */
  private text = '';
  private shown = 0;
  private read = 0;

  constructor(
    private readonly finder: SecretFinder,
    private readonly masked: Masked,
  ) {}

  push(chunk: string): string {
    this.text += chunk;
    const held = this.read - this.shown;
    const fresh = this.text.length - this.read;
    if (held > REREAD_MIN && fresh < held / 4) return '';
    return this.release(this.text.length - this.shown > HELD_MAX);
  }

  end(): string {
    return this.release(true);
  }

  private release(final: boolean): string {
    const { text, shown } = this;
    const { found, openAt, headAt } = this.finder.find(text, final);
    const hold = final ? text.length : this.holdFrom(found, openAt, headAt);
    const to = Math.max(shown, hold);
    const released = this.masked(text, found, shown, to);
    const context = final ? to : Math.max(Math.min(headAt, openAt, hold), to - CONTEXT_MAX);
    this.text = text.slice(context);
    this.shown = to - context;
    this.read = this.text.length;
    return released;
  }

  private holdFrom(found: readonly Finding[], openAt: number, headAt: number): number {
    const { text } = this;
    const lineAt = text.lastIndexOf('\n') + 1;
    let hold = Math.min(openAt, Math.max(headAt, lineAt));
    if (hold < lineAt) {
      const start = text.lastIndexOf('\n', hold - 1) + 1;
      if (hold - start <= LINE_MAX) hold = start;
    }
    // A form that continues after this place is not shown in part: found again, it begins at the same place.
    for (let i = found.length - 1; i >= 0; i--) {
      const { start, end } = found[i] as Finding;
      if (end > hold && start < hold) hold = start;
    }
    return hold;
  }
}
