// An application of the packed Node library, in a folder of its own: its programs are processes of their own.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildCode } from '@methods/client/pack/build-package';
import { tempFolder } from '../harness/temp-folder.ts';
import type { Stack } from './stack.ts';
import { type Program, startProgram } from './started-program.ts';

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
    const own = { PATH: process.env.PATH, HOME: this.folder, SERVICE_API_KEY: key, METHODS_SERVER: server };
    const program = startProgram(process.execPath, [name], { cwd: this.folder, env: { ...own, ...env } });
    program.child.stdin?.end();
    return program;
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
