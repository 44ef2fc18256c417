// Builds the dashboard into a folder: the page, its parts, and each of them compressed, so that the gateway compresses
// nothing while it serves.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { viteConfig } from './vite-config.ts';

const COMPRESSED = /\.(js|css|svg)$/;
/** The best of brotli takes ten times as long for a tenth of the bytes. */
const BROTLI_QUALITY = 9;

export async function buildDashboard(folder: string): Promise<void> {
  await build(viteConfig(folder));
  const assets = join(folder, 'assets');
  const names = (await readdir(assets)).filter((name) => COMPRESSED.test(name));
  await Promise.all(names.map((name) => compress(join(assets, name))));
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file);
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, brotli));
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
