// A certificate for `localhost` issued by its own authority, as an operator makes one.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface OwnCertificate {
  readonly key: Buffer;
  readonly certificate: Buffer;
  /** The authority's certificate, for clients that should trust it. */
  readonly authorityFile: string;
}

/** Needs `openssl`. Writes into `folder`. */
export async function ownCertificate(folder: string): Promise<OwnCertificate> {
  const authorityFile = join(folder, 'authority.pem');
  const subject = ['-subj', '/CN=authority', '-addext', 'keyUsage=keyCertSign', '-out', authorityFile];
  await openssl('req', ['-x509', '-days', '2', ...pair(join(folder, 'authority.key')), ...subject]);
  return { ...(await certificateBy(folder, 'server')), authorityFile };
}

/** Another one of the authority of `ownCertificate` in the folder. `days`: negative for one that has expired. */
export async function certificateBy(
  folder: string,
  name: string,
  { host = 'localhost', days = 2 }: { readonly host?: string; readonly days?: number } = {},
): Promise<Omit<OwnCertificate, 'authorityFile'>> {
  const file = (end: string) => join(folder, `${name}.${end}`);
  await writeFile(file('ext'), `subjectAltName=DNS:${host}\nbasicConstraints=critical,CA:FALSE\n`);
  await openssl('req', [...pair(file('key')), '-subj', `/CN=${host}`, '-out', file('csr')]);
  const authority = ['-CA', join(folder, 'authority.pem'), '-CAkey', join(folder, 'authority.key'), '-CAcreateserial'];
  const asked = ['-req', '-in', file('csr'), '-extfile', file('ext'), '-days', String(days)];
  await openssl('x509', [...asked, ...authority, '-out', file('pem')]);
  const [key, certificate] = await Promise.all([readFile(file('key')), readFile(file('pem'))]);
  return { key, certificate };
}

function pair(keyFile: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
}

async function openssl(command: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)('openssl', [command, ...args]);
}
