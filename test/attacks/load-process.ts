// The process that attacks, as its parent sees it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { AttackTarget } from './attack.ts';

export class LoadProcess {
  readonly name = 'attacker';
  readonly pid: number;
  private readonly child;
  private readonly lines: AsyncIterator<string>;

  constructor(target: AttackTarget) {
    const args = [...nodeArguments(new URL('./load.ts', import.meta.url)), JSON.stringify(target)];
    this.child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.pid = this.child.pid ?? 0;
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  begin(attack: string): Promise<string> {
    return this.say(attack);
  }

  /** How many requests got which reply. */
  async end(): Promise<Readonly<Record<string, number>>> {
    return JSON.parse(await this.say(''));
  }

  stop(): void {
    this.child.kill();
  }

  private async say(line: string): Promise<string> {
    this.child.stdin.write(`${line}\n`);
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the process that attacks has ended');
    return value;
  }
}
