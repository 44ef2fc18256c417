// The files of the dashboard, read once: the page, and its parts, which are named after their content and so never
// change under a name.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** In the order in which they are preferred. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface DashboardFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly encoded: Readonly<Partial<Record<Encoding, Buffer>>>;
}

export interface DashboardFiles {
  readonly page: string;
  /** Of the page and so of all its parts: another one after a deployment. */
  readonly release: string;
  /** By their path, `/assets/…`. */
  readonly assets: ReadonlyMap<string, DashboardFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export function readDashboard(folder: string): DashboardFiles {
  const written = readFileSync(join(folder, 'index.html'), 'utf8');
  const release = hashOf(written);
  const assets = new Map<string, DashboardFile>();
  for (const name of readdirSync(join(folder, 'assets'))) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, 'assets', name);
    const bytes = readFileSync(path);
    const [br, gzip] = [readIfThere(`${path}.br`), readIfThere(`${path}.gz`)];
    const encoded = { ...(br && { br }), ...(gzip && { gzip }) };
    assets.set(`/assets/${name}`, { type, etag: `"${hashOf(bytes)}"`, bytes, encoded });
  }
  return { page: written.replaceAll('__RELEASE__', release), release, assets };
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}
