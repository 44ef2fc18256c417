// A person's machine: a home folder, a browser that records what it is asked to open, and the command.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CliEnd, CliFolder, ended } from '@methods/cli/cli.fixture';
import { until } from '../harness/until.ts';

export interface KeptSignIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAtMs: number;
}

export interface StartedSignIn {
  readonly shown: Promise<string>;
  readonly end: Promise<CliEnd>;
  interrupt(): void;
}

export class Desk {
  private readonly ends: CliEnd[] = [];

  private constructor(
    readonly folder: CliFolder,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  /** With `display` the command opens a browser, which is a file here; `bus` is the address of a session's own bus. */
  static async make({
    display = true,
    bus,
  }: {
    readonly display?: boolean;
    readonly bus?: string;
  } = {}): Promise<Desk> {
    const folder = await CliFolder.make();
    const bin = join(folder.dir, 'bin');
    mkdirSync(bin);
    await folder.write(
      'bin/xdg-open',
      '#!/bin/sh\nprintf %s "$1" > "$HOME/opened.new" && mv "$HOME/opened.new" "$HOME/opened"\n',
    );
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const path = `${bin}:${process.env.PATH}`;
    const store = bus === undefined ? { METHODS_TOKEN_STORE: 'file' } : { DBUS_SESSION_BUS_ADDRESS: bus };
    return new Desk(folder, { PATH: path, ...store, ...(display ? { DISPLAY: ':7' } : {}) });
  }

  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliEnd> {
    const end = await this.folder.methods(args, { ...this.env, ...env });
    this.ends.push(end);
    return end;
  }

  /** Starts a sign-in; `shown` resolves with what it says first, up to what `says` finds. */
  start(args: readonly string[], says: RegExp, command: readonly string[] = ['login']): StartedSignIn {
    const child: ChildProcess = this.folder.spawn([...command, ...args], this.env);
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const end = ended(child).then((result) => {
      this.ends.push(result);
      return result;
    });
    const shown = until('the command says where to sign in', () => {
      assert.equal(child.exitCode, null, text);
      return says.exec(text)?.[1];
    });
    return { shown, end, interrupt: () => child.kill('SIGINT') };
  }

  /** Signs in by the browser of this machine; `visit` goes to the issuer and returns where that sends the browser. */
  async signIn(
    server: string,
    visit: (address: string) => Promise<URL>,
    args: readonly string[] = [],
    command: readonly string[] = ['login'],
  ): Promise<CliEnd> {
    const { shown, end } = this.start(['--server', server, ...args], /^ {2}(http\S+)$/m, command);
    await fetch(await visit(await shown));
    return end;
  }

  /** What the browser was asked to open. */
  opened(): Promise<string> {
    const file = join(this.folder.dir, 'opened');
    return until('the browser is opened', () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined));
  }

  /** The files of sign-ins, with their modes. */
  kept(): { readonly path: string; readonly mode: number; readonly signIn: KeptSignIn }[] {
    const folder = join(this.folder.dir, '.local', 'state', 'methods', 'sign-ins');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return { path, mode: statSync(path).mode & 0o777, signIn: JSON.parse(readFileSync(path, 'utf8')) };
    });
  }

  theSignIn(): KeptSignIn {
    const [only, ...others] = this.kept();
    assert.ok(only !== undefined && others.length === 0, JSON.stringify(this.kept().map(({ path }) => path)));
    return only.signIn;
  }

  /** Nothing that was ever printed here holds one of these. */
  assertNeverSaid(secrets: readonly string[]): void {
    assert.ok(secrets.length > 0 && secrets.every((secret) => secret.length > 16));
    for (const { stdout, stderr } of this.ends) {
      for (const secret of secrets)
        assert.ok(!`${stdout}${stderr}`.includes(secret), `a secret was printed: ${stderr}`);
    }
  }

  remove(): Promise<void> {
    return this.folder.remove();
  }
}
