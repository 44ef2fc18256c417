// Writes the table of tools into docs/agents.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENTS_PAGE, toolTable, withToolTable } from './agent-tools.ts';

const path = fileURLToPath(new URL(`../../${AGENTS_PAGE}`, import.meta.url));
writeFileSync(path, withToolTable(readFileSync(path, 'utf8'), toolTable()));
