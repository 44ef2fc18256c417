// The dashboard, built from the present sources in a process of its own while other parts start, and kept for the next
// start.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeArguments } from '@methods/built-code/node-arguments';

const run = promisify(execFile);
const CODE = new URL('../../../gateway/dashboard/build/main.ts', import.meta.url);
const KEPT = fileURLToPath(new URL('../../../node_modules/.cache/methods-dashboard', import.meta.url));

/** The variables of the gateways. If the dashboard cannot be built here, the stack starts without it. */
export async function dashboard(say: (line: string) => void): Promise<Record<string, string>> {
  try {
    const { stdout } = await run(process.execPath, [...nodeArguments(CODE), '--kept', KEPT]);
    return { DASHBOARD_DIR: stdout.trim() };
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    say(`The dashboard cannot be built, so this stack has none:\n${String(stderr || error).slice(0, 2_000)}`);
    return {};
  }
}
