// The client libraries, as npm and pip install them from this server: their names in public registries may be those of
// strangers. A path names the content by its hash, so a lock file that names it never gets other content. Public.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
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
  const contents = new Map<string, Uint8Array>();
  for (const file of packagesDir === null ? [] : readdirSync(packagesDir)) {
    const kind = Object.entries(KINDS).find(([, end]) => file.endsWith(end))?.[0];
    if (kind === undefined || packagesDir === null) continue;
    const bytes = readFileSync(join(packagesDir, file));
    found[kind] = foundPackage(file, bytes);
    contents.set(found[kind].path, bytes);
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
  const schemaOfOne = { hide: true, params: Type.Object({ hash: Type.String(), name: Type.String() }) };
  app
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/packages/:hash/:name', { schema: schemaOfOne }, async (request, reply) => {
      const { hash, name } = request.params;
      const bytes = contents.get(`/packages/${hash}/${name}`);
      if (bytes === undefined) return reply.callNotFound();
      reply
        .header('content-type', 'application/octet-stream')
        .header('cache-control', `public, max-age=${YEAR_S}, immutable`)
        .header('x-content-type-options', 'nosniff');
      return bytes;
    });
}

function foundPackage(name: string, bytes: Uint8Array): FoundPackage {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = `/packages/${sha256.slice(0, HASH_CHARACTERS)}/${name}`;
  return { path, sha256, integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` };
}
