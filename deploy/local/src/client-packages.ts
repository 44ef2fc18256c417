// The packages of the client libraries, built from the present sources in a process of their own while other parts start,
// and kept for the next start.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeArguments } from '@methods/built-code/node-arguments';

const run = promisify(execFile);
const CODE = new URL('../../../libs/packages/src/main.ts', import.meta.url);
const KEPT = fileURLToPath(new URL('../../../node_modules/.cache/methods-packages', import.meta.url));

/** The variables of the gateways. If the packages cannot be built here, the stack starts without them. */
export async function clientPackages(say: (line: string) => void): Promise<Record<string, string>> {
  try {
    const { stdout } = await run(process.execPath, [...nodeArguments(CODE), '--kept', KEPT]);
    return { PACKAGES_DIR: stdout.trim() };
  } catch (error) {
    const [first] = String((error as { stderr?: string }).stderr || error).split('\n');
    say(`The client libraries cannot be packed, so /packages has none: ${first}`);
    return {};
  }
}
