// The licences of the packages whose code is in the built files: their texts have to come with it.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const LICENCE = /^(?:licen[cs]e|copying|notice)(?:\.\w+)?$/i;

/** `inputs`: the files that were built, from `folder`. @throws Error for a package without a licence text */
export async function inlinedLicences(inputs: Iterable<string>, folder: string): Promise<string> {
  const packages = new Set<string>();
  for (const input of inputs) {
    const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (found !== undefined) packages.add(join(folder, found));
  }
  const texts: string[] = [];
  for (const place of [...packages].sort()) {
    const { name, version } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as Record<string, string>;
    const names = (await readdir(place)).filter((each) => LICENCE.test(each) && existsSync(join(place, each)));
    if (names.length === 0) throw new Error(`${name} has no licence text`);
    const bodies = await Promise.all(names.sort().map((each) => readFile(join(place, each), 'utf8')));
    texts.push(`${name} ${version}\n\n${bodies.map((body) => body.trim()).join('\n\n')}\n`);
  }
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
