// What gateways serve beside the API: the packages of the client libraries and the dashboard. Each is built from the
// present sources, in a process of its own while other parts start, and kept for the next start. A folder that the
// environment names is used in place of a build.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeArguments } from '@methods/built-code/node-arguments';

const KEPT = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
const REASON_CHARACTERS_MAX = 2_000;

interface Build {
  /** The variable of a gateway that names its folder. */
  readonly variable: string;
  readonly code: URL;
  readonly kept: string;
  readonly without: string;
}

const BUILDS: readonly Build[] = [
  {
    variable: 'PACKAGES_DIR',
    code: new URL('../../../libs/packages/src/main.ts', import.meta.url),
    kept: `${KEPT}methods-packages`,
    without: 'The client libraries cannot be packed, so /packages has none:',
  },
  {
    variable: 'DASHBOARD_DIR',
    code: new URL('../../../gateway/dashboard/build/main.ts', import.meta.url),
    kept: `${KEPT}methods-dashboard`,
    without: 'The dashboard cannot be built, so this stack has none:',
  },
];

/** The variables of the gateways. What cannot be built here is left out, and `say` gets the reason. */
export async function servedBuilds(say: (line: string) => void): Promise<Record<string, string>> {
  const found = await Promise.all(BUILDS.map(async (build) => [build.variable, await folderOf(build, say)] as const));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== null));
}

async function folderOf({ variable, code, kept, without }: Build, say: (line: string) => void): Promise<string | null> {
  const given = process.env[variable] ?? '';
  if (given !== '') return given;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...nodeArguments(code), '--kept', kept]);
    return stdout.trim();
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    say(`${without}\n${String(stderr || error).slice(0, REASON_CHARACTERS_MAX)}`);
    return null;
  }
}
