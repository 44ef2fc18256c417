// The mask of one run: that of its declared secrets, and of the values its steps returned as the type `secret`, such as
// a token from a login. Those are unknown before, and in no log, record or file afterwards.
import { StepFailure } from '../step-failure.ts';
import { type Mask, type MaskStream, maskOf } from './mask.ts';
import { SecretFinder } from './secret-finder.ts';
import { SECRET_CHARACTERS_MIN } from './secret-forms.ts';

/** Each is searched for in all texts of the run. */
const LEARNED_MAX = 200;

export interface RunMask extends Mask {
  /** @throws StepFailure of kind limit when the run holds too many. */
  learn(name: string, value: string): void;
  /** Extends over the declared secrets of another method of the same run; both know the secrets that either learns. */
  over(declared: ReadonlyMap<string, string>, mask: Mask): RunMask;
}

/** `mask`: that of the declared secrets, while there are no others. */
export function runMask(declared: ReadonlyMap<string, string>, mask: Mask): RunMask {
  return new LearningMask(declared, mask, new Map());
}

class LearningMask implements RunMask {
  private finder: SecretFinder | null = null;
  private known = 0;

  constructor(
    private readonly declared: ReadonlyMap<string, string>,
    private mask: Mask,
    /** Value to name. */
    private readonly learned: Map<string, string>,
  ) {}

  learn(name: string, value: string): void {
    const { learned } = this;
    if (value.length < SECRET_CHARACTERS_MIN || learned.has(value)) return;
    if (learned.size === LEARNED_MAX) {
      throw new StepFailure('limit', `The steps of a run give at most ${LEARNED_MAX} values of the type secret`);
    }
    learned.set(value, name);
  }

  over(declared: ReadonlyMap<string, string>, mask: Mask): RunMask {
    return new LearningMask(declared, mask, this.learned);
  }

  text(text: string): string {
    return this.current().text(text);
  }

  json(value: Parameters<Mask['json']>[0]): ReturnType<Mask['json']> {
    return this.current().json(value);
  }

  finds(text: string): string | null {
    return this.current().finds(text);
  }

  stream(): MaskStream {
    return this.current().stream();
  }

  /** One pass for all: a separate mask for each value would read every text as often. */
  private current(): Mask {
    const { learned } = this;
    if (this.known === learned.size) return this.mask;
    if (this.finder === null) {
      this.finder = new SecretFinder(this.declared);
      this.mask = maskOf(this.finder);
    }
    for (const [value, name] of [...learned].slice(this.known)) this.finder.add(name, value);
    this.known = learned.size;
    return this.mask;
  }
}
