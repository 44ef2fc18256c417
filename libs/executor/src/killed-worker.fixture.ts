// A worker process for a test to kill: one runner loops forever, another is idle with its own child process.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@methods/test/harness/until';
import { method, node } from './hand-built-method.fixture.ts';
import { RunHarness } from './run-harness.fixture.ts';

const harness = await RunHarness.start();
const folder = join(harness.dir, readdirSync(harness.dir)[0] ?? '');
process.stdout.write(`${folder}\n`);
const report = "(await import('node:fs')).writeFileSync(dir + '/' + step.name, String(process.pid));";
const literalDir = { dir: { kind: 'literal' as const, value: folder } };
void harness.run(method([node('loop', `${report} for (;;) {}`, { inputs: literalDir })]));
void harness.run(method([node('wait', `${report} await new Promise(() => {})`, { inputs: literalDir })]));
const { readFileSync } = await import('node:fs');
const pidOf = (name: string) => {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return '';
  }
};
await until('both steps run', () => pidOf('loop') !== '' && pidOf('wait') !== '');
process.stdout.write(`${pidOf('loop')} ${pidOf('wait')}\n`);
