// Stores the servers of sign-ins, and the last one, which the next command uses too. It holds no secret.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

export async function rememberSignIn(stateDir: string, { server, issuer }: KnownSignIn): Promise<void> {
  const { known } = await remembered(stateDir);
  const others = known.filter((each) => each.server !== server || each.issuer !== issuer);
  const last = { server, issuer };
  await remember(stateDir, { last, known: [last, ...others].slice(0, KNOWN_MAX) });
}

/** For signing out: the next command does not choose this server because of it. */
export async function rememberIssuer(stateDir: string, { server, issuer }: KnownSignIn): Promise<void> {
  const { last, known } = await remembered(stateDir);
  const others = known.filter((each) => each.server !== server || each.issuer !== issuer);
  await remember(stateDir, { last, known: [{ server, issuer }, ...others].slice(0, KNOWN_MAX) });
}

/** After signing out of the last server, no other one replaces it: a command must not change its server by itself. */
export async function forgetSignIns(stateDir: string, server: string): Promise<void> {
  const { last, known } = await remembered(stateDir);
  await remember(stateDir, {
    last: last?.server === server ? null : last,
    known: known.filter((each) => each.server !== server),
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

function remember(stateDir: string, memory: Memory): Promise<void> {
  return replaceFile(fileIn(stateDir), `${JSON.stringify(memory)}\n`);
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'methods', 'sign-ins.json');
}
