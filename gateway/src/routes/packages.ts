// The client libraries, as npm and pip install them from this server: their names in public registries may be those of
// strangers. A path names the content by its hash, so a lock file that names it never gets other content. Public.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { JSON_TYPE } from '../plugins/error-reply.ts';

const KINDS = { node: '.tgz', python: '.whl' } as const;
const YEAR_S = 31_536_000;
/** Of the hash, in a path. */
const HASH_CHARACTERS = 16;

const Package = Type.Object({
  path: Type.String(),
  sha256: Type.String(),
  integrity: Type.String({ description: 'As lock files of npm give it.' }),
});

interface FoundPackage {
  readonly path: string;
  readonly sha256: string;
  readonly integrity: string;
}

export interface PackageParts {
  /** Null: this server has none. */
  readonly packagesDir: string | null;
}

export function addPackages(app: FastifyInstance, { packagesDir }: PackageParts): void {
  const found: Record<string, FoundPackage> = {};
  for (const file of packagesDir === null ? [] : readdirSync(packagesDir)) {
    const kind = Object.entries(KINDS).find(([, end]) => file.endsWith(end))?.[0];
    if (kind !== undefined && packagesDir !== null) found[kind] = addPackage(app, file, join(packagesDir, file));
  }
  const schema = {
    operationId: 'packages',
    summary: 'The packages of the client libraries',
    tags: ['server'],
    response: { 200: Type.Object({ node: Type.Optional(Package), python: Type.Optional(Package) }) },
  };
  const text = JSON.stringify(found);
  app.get('/packages', { schema }, async (_request, reply) => {
    reply.header('content-type', JSON_TYPE).header('cache-control', 'no-cache');
    return text;
  });
}

function addPackage(app: FastifyInstance, name: string, file: string): FoundPackage {
  const bytes = readFileSync(file);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = `/packages/${sha256.slice(0, HASH_CHARACTERS)}/${name}`;
  app.get(path, { schema: { hide: true } }, async (_request, reply) => {
    reply
      .header('content-type', 'application/octet-stream')
      .header('cache-control', `public, max-age=${YEAR_S}, immutable`)
      .header('x-content-type-options', 'nosniff');
    return bytes;
  });
  return { path, sha256, integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` };
}
