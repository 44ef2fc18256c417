// An application of the packed Node library, in a folder of its own: its programs are processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCode } from '@methods/client/pack/build-package';
import { tempFolder } from '../harness/temp-folder.ts';
import type { Stack } from './stack.ts';

export interface Program {
  readonly child: ChildProcess;
  /** Its lines so far. */
  readonly lines: string[];
  readonly errors: () => string;
  readonly ended: Promise<number | null>;
}

export class NodeApp {
  readonly folder = tempFolder('node-app');

  private constructor(private readonly stack: Stack) {}

  static async create(stack: Stack): Promise<NodeApp> {
    const app = new NodeApp(stack);
    const place = join(app.folder, 'node_modules/@methods/client');
    await mkdir(place, { recursive: true });
    await buildCode(place);
    return app;
  }

  async start(name: string, text: string, env: Readonly<Record<string, string>> = {}): Promise<Program> {
    await writeFile(join(this.folder, name), text);
    return this.started(name, env);
  }

  started(name: string, env: Readonly<Record<string, string>> = {}): Program {
    const { api_key: key, base_url: server } = this.stack.ready;
    const child = spawn(process.execPath, [name], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, SERVICE_API_KEY: key, METHODS_SERVER: server, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    let errors = '';
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    return { child, lines, errors: () => errors, ended };
  }

  uninstall(): Promise<void> {
    return rm(join(this.folder, 'node_modules'), { recursive: true, force: true });
  }

  /** Processes of its workers: their HOME or folder is below that of the application. */
  processes(): number[] {
    return readdirSync('/proc').flatMap((pid) => {
      try {
        const seen = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8');
        return /^\d+$/.test(pid) && seen.includes(this.folder) ? [Number(pid)] : [];
      } catch {
        return [];
      }
    });
  }
}
