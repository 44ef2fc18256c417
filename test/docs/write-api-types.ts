// Writes the types of the dashboard's calls.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API_TYPES, apiTypes } from './api-types.ts';

const path = fileURLToPath(new URL(`../../${API_TYPES}`, import.meta.url));
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, await apiTypes());
