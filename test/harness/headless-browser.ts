// A real browser without a window, for pages that only a browser can judge: driven over the DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol) by a pipe, so that no port is open and no library is needed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { guardAgainstParentDeath } from '@methods/local-stack/embedded/parent-guard';
import { tempFolder } from './temp-folder.ts';
import { until } from './until.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const REPLY_WITHIN_MS = 20_000;

/** Where a Chromium is installed; null where there is none. */
export function findChromium(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

/** One page. What it asks for and complains of is kept from the beginning. */
export class HeadlessBrowser implements AsyncDisposable {
  /** Addresses asked for, without those of data. */
  readonly requested: string[] = [];
  /** Errors of the console, blocked loads and exceptions nobody caught. */
  readonly complaints: string[] = [];
  private readonly waiting = new Map<number, Waiting>();
  private sessionId = '';
  private serial = 0;
  private unread = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    const input = child.stdio[4] as Readable;
    input.setEncoding('utf8');
    input.on('data', (text: string) => this.read(text));
    // A browser that has died answers nothing any more, and that is told where somebody waits for an answer.
    child.stdio[3]?.on('error', () => {});
  }

  static async started(path: string): Promise<HeadlessBrowser> {
    const folder = tempFolder('browser');
    const child = spawn(
      path,
      [
        '--headless=new',
        '--remote-debugging-pipe',
        `--user-data-dir=${folder}`,
        '--no-first-run',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--window-size=1400,1000',
        // The browser's own sandbox does not work for root.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    const guard = guardAgainstParentDeath({ pid: child.pid as number, marker: folder, removeFolder: folder });
    child.once('exit', () => guard.serverEnded());
    const browser = new HeadlessBrowser(child, folder);
    const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.call('Target.attachToTarget', { targetId, flatten: true });
    browser.sessionId = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.call(`${domain}.enable`);
    return browser;
  }

  async open(url: string): Promise<void> {
    await this.call('Page.navigate', { url });
  }

  /** The value of an expression in the page. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value: Value }).value;
  }

  /** Waits for an element with this text in it, and clicks the first one. */
  async click(selector: string, text: string): Promise<void> {
    const [found, wanted] = [JSON.stringify(selector), JSON.stringify(text)];
    const clicked = `(() => {
      const element = [...document.querySelectorAll(${found})].find((each) => each.textContent.includes(${wanted}));
      element?.click();
      return element !== undefined;
    })()`;
    await until(`${selector} with ${text}`, () => this.evaluate<boolean>(clicked), REPLY_WITHIN_MS);
  }

  /** Waits for an element and types into the first one. */
  async type(selector: string, text: string): Promise<void> {
    const focused = `(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element?.focus();
      return element !== null && document.activeElement === element;
    })()`;
    await until(selector, () => this.evaluate<boolean>(focused), REPLY_WITHIN_MS);
    await this.call('Input.insertText', { text });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      // Killed, it would leave processes behind that still write to its folder.
      await this.call('Browser.close').catch(() => this.child.kill('SIGKILL'));
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private call(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.serial;
    const session = this.sessionId === '' ? {} : { sessionId: this.sessionId };
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the browser does not answer ${method}`)), REPLY_WITHIN_MS);
      const settled = () => {
        clearTimeout(timer);
        this.waiting.delete(id);
      };
      this.waiting.set(id, {
        resolve: (result) => {
          settled();
          resolve(result);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
    });
  }

  private read(text: string): void {
    const parts = (this.unread + text).split('\0');
    this.unread = parts.pop() ?? '';
    for (const part of parts) this.take(JSON.parse(part) as Message);
  }

  private take({ id, method, params, result, error }: Message): void {
    if (id !== undefined) {
      const waiting = this.waiting.get(id);
      if (error) waiting?.reject(new Error(error.message));
      else waiting?.resolve(result ?? {});
    } else if (method === 'Network.requestWillBeSent') {
      const { url } = (params as { readonly request: { readonly url: string } }).request;
      if (!url.startsWith('data:')) this.requested.push(url);
    } else if (method === 'Log.entryAdded') {
      const { level, text, url } = (params as { readonly entry: Record<'level' | 'text' | 'url', string> }).entry;
      if (level === 'error') this.complaints.push(`${text} ${url ?? ''}`);
    } else if (method === 'Runtime.exceptionThrown' || isConsoleError(method, params)) {
      this.complaints.push(JSON.stringify(params));
    }
  }
}

function isConsoleError(method: string | undefined, params: Message['params']): boolean {
  return method === 'Runtime.consoleAPICalled' && params?.type === 'error';
}
