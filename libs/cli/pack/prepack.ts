// `npm pack` calls this before it looks for the package's files.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildPackage } from './build-package.ts';

const imported = await buildPackage(fileURLToPath(new URL('../dist', import.meta.url)));
const { dependencies } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>;
};
const declared = Object.keys(dependencies).sort();
if (declared.join() !== imported.join()) {
  throw new Error(`package.json has the dependencies ${declared.join(', ')}; the code uses ${imported.join(', ')}`);
}
