// What a run of an example needs and must come to.
import type { JsonObject } from '@methods/method/json';
import type { OutsideWorld, World } from './outside-world.ts';
import type { GivenFile, WholeRun } from './whole-run.ts';

export interface ExampleCase {
  /** The file under libs/method/examples, without its extension. */
  readonly method: string;
  /** What the run shows, as a sentence. */
  readonly shows: string;
  readonly inputs: JsonObject;
  /** Those among the inputs, by name. */
  readonly files?: Readonly<Record<string, GivenFile>>;
  /** Values that are not the made-up ones: addresses, for example. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly world: World;
  readonly answers?: Readonly<Record<string, JsonObject>>;
  readonly expect: (run: WholeRun, world: OutsideWorld) => void | Promise<void>;
}

/** The value of a secret no case names: long enough to be masked, and the same for every run. */
export function madeUpSecret(name: string): string {
  return `value-of-${name.toLowerCase()}`;
}
