// A certificate for `localhost` issued by its own authority, as an operator makes one.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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
  const run = promisify(execFile);
  const file = (name: string) => join(folder, name);
  const pair = (name: string) => [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    file(name),
  ];
  const valid = ['-x509', '-days', '2'];
  const authority = ['-subj', '/CN=authority', '-addext', 'keyUsage=keyCertSign', '-out', file('authority.pem')];
  await run('openssl', ['req', ...valid, ...pair('authority.key'), ...authority]);
  const server = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const signed = ['-CA', file('authority.pem'), '-CAkey', file('authority.key')];
  const own = ['-addext', 'basicConstraints=critical,CA:FALSE', '-out', file('server.pem')];
  await run('openssl', ['req', ...valid, ...pair('server.key'), ...server, ...signed, ...own]);
  const [key, certificate] = await Promise.all([readFile(file('server.key')), readFile(file('server.pem'))]);
  return { key, certificate, authorityFile: file('authority.pem') };
}
