// The mask of one run: that of its declared secrets, and of what its steps gave as the type `secret` since, such as a
// token from a login. Those are known to nobody before, and shown by no log, record or file after.
import { StepFailure } from '../step-failure.ts';
import { createMask, type Mask, type MaskStream } from './mask.ts';

/** Shorter values would be found, and masked, all over ordinary texts. */
const CHARACTERS_MIN = 6;
/** Each is looked for in all that the run says. */
const LEARNED_MAX = 200;

export interface RunMask extends Mask {
  /** @throws StepFailure of kind limit when the run holds too many. */
  learn(name: string, value: string): void;
  /** Over the declared secrets of another method of the same run; what either learns, both know. */
  over(declared: Mask): RunMask;
}

export function runMask(declared: Mask): RunMask {
  return new LearningMask(declared, { masks: [], values: new Set() });
}

interface Learned {
  readonly masks: Mask[];
  readonly values: Set<string>;
}

class LearningMask implements RunMask {
  constructor(
    private readonly declared: Mask,
    private readonly learned: Learned,
  ) {}

  learn(name: string, value: string): void {
    const { masks, values } = this.learned;
    if (value.length < CHARACTERS_MIN || values.has(value)) return;
    if (values.size === LEARNED_MAX) {
      throw new StepFailure('limit', `The steps of a run give at most ${LEARNED_MAX} values of the type secret`);
    }
    values.add(value);
    // Half a character could not be spelled in a URL.
    masks.push(createMask(new Map([[name, Buffer.from(value).toString()]])));
  }

  over(declared: Mask): RunMask {
    return new LearningMask(declared, this.learned);
  }

  text(text: string): string {
    return this.learned.masks.reduce((masked, mask) => mask.text(masked), this.declared.text(text));
  }

  json(value: Parameters<Mask['json']>[0]): ReturnType<Mask['json']> {
    return this.learned.masks.reduce((masked, mask) => mask.json(masked), this.declared.json(value));
  }

  finds(text: string): string | null {
    for (const mask of [this.declared, ...this.learned.masks]) {
      const found = mask.finds(text);
      if (found !== null) return found;
    }
    return null;
  }

  stream(): MaskStream {
    const { masks } = this.learned;
    if (masks.length === 0) return this.declared.stream();
    return new StreamChain([this.declared, ...masks].map((mask) => mask.stream()));
  }
}

class StreamChain implements MaskStream {
  constructor(private readonly streams: readonly MaskStream[]) {}

  push(chunk: string): string {
    return this.streams.reduce((text, stream) => stream.push(text), chunk);
  }

  end(): string {
    return this.streams.reduce((text, stream) => stream.push(text) + stream.end(), '');
  }
}
