// Rotations that were begun and whose new key has not been shown yet. The new key is here before the server has its
// hash, so that a rotation that was interrupted continues with it: no key is made that no one has.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { replaceFile } from '../files/write-whole.ts';

export interface UnfinishedRotation {
  readonly serviceKey: string;
  readonly name: string;
}

export class UnfinishedRotations {
  private readonly file: string;

  /** Of one key of a server. */
  constructor(stateDir: string, server: string, keyId: string) {
    const name = createHash('sha256').update(`${server}\n${keyId}`).digest('hex').slice(0, 32);
    this.file = join(stateDir, 'methods', 'rotations', `${name}.json`);
  }

  get lock(): string {
    return `${this.file}.lock`;
  }

  /** The one that was begun, or a new one. Only its owner can read it. */
  async begin(name: string): Promise<UnfinishedRotation> {
    const found = await readFile(this.file, 'utf8').then(rotationOf, () => null);
    if (found !== null) return found;
    const made = { serviceKey: createServiceKey().key, name };
    await replaceFile(this.file, JSON.stringify(made));
    return made;
  }

  forget(): Promise<void> {
    return rm(this.file, { force: true });
  }
}

function rotationOf(text: string): UnfinishedRotation | null {
  try {
    const { serviceKey, name } = Object(JSON.parse(text)) as Record<string, unknown>;
    if (typeof serviceKey !== 'string' || typeof name !== 'string') return null;
    return parseBearerKey(serviceKey)?.contentPart === undefined ? null : { serviceKey, name };
  } catch {
    return null;
  }
}
