// Writes the reference of the commands into docs/cli.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLI_PAGE, cliReference, withReference } from './cli-reference.ts';

const path = fileURLToPath(new URL(`../../${CLI_PAGE}`, import.meta.url));
writeFileSync(path, withReference(readFileSync(path, 'utf8'), await cliReference()));
