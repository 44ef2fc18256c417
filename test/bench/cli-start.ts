// How soon the `methods` command says something, beside a Node that does nothing: as an installed package, and in a
// checkout, where each call looks whether its sources have changed.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PackedCli } from '../harness/packed-cli.ts';

const CHECKOUT = fileURLToPath(new URL('../../libs/cli/bin/methods.mjs', import.meta.url));
const NOTHING = ['-e', "process.stdout.write('.')"];
const TRIES = 15;

export async function measureCliStart(scale: number): Promise<string[]> {
  const packed = await PackedCli.install();
  try {
    await packed.methods('new', 'greet', '--kind', 'node');
    const cases: readonly (readonly [name: string, args: readonly string[]])[] = [
      ['package, --help', [packed.bin, '--help']],
      ['package, check of a method', [packed.bin, 'check', 'greet.method']],
      ['checkout, --help', [CHECKOUT, '--help']],
      ['checkout, check of a method', [CHECKOUT, 'check', 'greet.method']],
    ];
    const times = new Map([['node', [] as number[]], ...cases.map(([name]) => [name, [] as number[]] as const)]);
    // In turn, so that a busy moment of the machine meets all of them.
    for (let i = 0; i < Math.max(3, Math.ceil(TRIES * scale)); i++) {
      times.get('node')?.push(await firstOutputMs(NOTHING, packed.dir));
      for (const [name, args] of cases) times.get(name)?.push(await firstOutputMs(args, packed.dir));
    }
    const nodeMs = median(times.get('node') ?? []);
    return [
      `empty node: first output after ${nodeMs.toFixed(0)} ms`,
      ...cases.map(([name]) => {
        const ms = median(times.get(name) ?? []);
        return `${name}: ${ms.toFixed(0)} ms, ${(ms / nodeMs).toFixed(2)} times an empty node`;
      }),
    ];
  } finally {
    await packed.remove();
  }
}

function firstOutputMs(args: readonly string[], cwd: string): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let first: number | null = null;
    child.stdout.on('data', () => {
      first ??= performance.now() - startedMs;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && first !== null) resolve(first);
      else reject(new Error(`${args.join(' ')} ended with ${code}`));
    });
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
