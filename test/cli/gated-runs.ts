// Runs that a test holds as long as it wants: their second step waits for a file.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StackDesk } from './stack-desk.ts';

const HELD = `format: method/2
name: held
inputs: { gate: string }
steps:
  - name: begin
    node: |
      return { ok: true }
    out: { ok: boolean }
  - name: hold
    in: [inputs.gate]
    node: |
      const { existsSync } = await import('node:fs')
      console.log('holding')
      const tick = () => new Promise(go => setTimeout(go, 20))
      while (!existsSync(gate)) await tick()
      return { ok: true }
    out: { ok: boolean }
  - name: last
    node: |
      return { ok: true }
    out: { ok: boolean }
result: { ok: =steps.hold.ok }
`;

export class GatedRuns {
  private constructor(private readonly desk: StackDesk) {}

  /** Saves and publishes `held.method`. */
  static async publish(desk: StackDesk): Promise<GatedRuns> {
    await desk.folder.write('held.method', HELD);
    for (const command of ['save', 'publish']) {
      const end = await desk.folder.quick([command, 'held.method'], desk.env);
      assert.equal(end.code, 0, end.stderr);
    }
    return new GatedRuns(desk);
  }

  /** Returns the id of a run that `open` lets continue. */
  async start(name: string): Promise<string> {
    const inputs = JSON.stringify({ gate: this.gate(name) });
    const args = ['start', 'held.method', '--inputs', inputs, '--quiet'];
    return (await this.desk.folder.quick(args, this.desk.env)).stdout.trim();
  }

  open(name: string): Promise<void> {
    return writeFile(this.gate(name), '');
  }

  private gate(name: string): string {
    return join(this.desk.folder.dir, `${name}.gate`);
  }
}
