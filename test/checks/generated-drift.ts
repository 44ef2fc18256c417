// Generated code is committed; this generates it again and compares, so that no one edits it or forgets to renew it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandOutcome, root, runTool } from './command.ts';

const GENERATED = 'libs/proto/src/gen';

export async function checkGeneratedCode(): Promise<CommandOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'methods-generated-'));
  try {
    const made = await runTool('buf', ['generate', '-o', folder]);
    if (!made.ok) return made;
    const differing = differences(join(root, GENERATED), join(folder, GENERATED));
    if (differing.length === 0) return { ok: true, output: '' };
    return { ok: false, output: `Not what proto/ generates (npm run generate):\n${differing.join('\n')}\n` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function differences(committed: string, made: string): string[] {
  const names = new Set([...filesBelow(committed), ...filesBelow(made)]);
  return [...names].sort().filter((name) => contentOf(join(committed, name)) !== contentOf(join(made, name)));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
}

function contentOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
