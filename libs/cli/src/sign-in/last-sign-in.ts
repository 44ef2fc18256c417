// Stores the servers of sign-ins, and the last one, which the next command uses too. It holds no secret.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from '../files/file-lock.ts';
import { replaceFile } from '../files/write-whole.ts';

export interface KnownSignIn {
  readonly server: string;
  readonly issuer: string;
}

interface Memory {
  /** null: signed out since. */
  readonly last: KnownSignIn | null;
  /** Newest first. */
  readonly known: readonly KnownSignIn[];
}

const KNOWN_MAX = 100;

export async function lastSignIn(stateDir: string): Promise<KnownSignIn | null> {
  return (await remembered(stateDir)).last;
}

/** The issuers of a server's sign-ins: one, unless its operator changed it. */
export async function issuersOf(stateDir: string, server: string): Promise<string[]> {
  const { known } = await remembered(stateDir);
  return known.filter((each) => each.server === server).map(({ issuer }) => issuer);
}

export function rememberSignIn(stateDir: string, { server, issuer }: KnownSignIn): Promise<void> {
  const last = { server, issuer };
  return change(stateDir, ({ known }) => ({ last, known: withFirst(known, last) }));
}

/** For signing out: the next command does not choose this server because of it. */
export function rememberIssuer(stateDir: string, { server, issuer }: KnownSignIn): Promise<void> {
  return change(stateDir, ({ last, known }) => ({ last, known: withFirst(known, { server, issuer }) }));
}

/** After signing out of the last server, no other one replaces it: a command must not change its server by itself. */
export function forgetSignIns(stateDir: string, server: string): Promise<void> {
  return change(stateDir, ({ last, known }) => ({
    last: last?.server === server ? null : last,
    known: known.filter((each) => each.server !== server),
  }));
}

function withFirst(known: readonly KnownSignIn[], first: KnownSignIn): KnownSignIn[] {
  const others = known.filter((each) => each.server !== first.server || each.issuer !== first.issuer);
  return [first, ...others].slice(0, KNOWN_MAX);
}

/** Of two commands at once neither loses the other's sign-in, which could then no longer be signed out of. */
function change(stateDir: string, changed: (memory: Memory) => Memory): Promise<void> {
  const file = fileIn(stateDir);
  return withFileLock(`${file}.lock`, new AbortController().signal, async () => {
    await replaceFile(file, `${JSON.stringify(changed(await remembered(stateDir)))}\n`);
  });
}

async function remembered(stateDir: string): Promise<Memory> {
  try {
    const { last, known } = Object(JSON.parse(await readFile(fileIn(stateDir), 'utf8')));
    return { last: isKnown(last) ? last : null, known: Array.isArray(known) ? known.filter(isKnown) : [] };
  } catch {
    return { last: null, known: [] };
  }
}

function isKnown(value: unknown): value is KnownSignIn {
  const { server, issuer } = Object(value);
  return typeof server === 'string' && typeof issuer === 'string';
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'methods', 'sign-ins.json');
}
