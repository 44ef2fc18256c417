// What a person waits for in the dashboard, in a real browser in front of a stack that the seed has filled with 100,000
// runs; and what 500 open dashboards cost a gateway in private memory.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { Page } from 'playwright-core';
import { scriptsBeforeRows } from '../dashboard/list-of-runs.fixture.ts';
import { sessionOf } from '../e2e/people.ts';
import { findChromium, type HeadlessBrowser, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { elapse, until } from '../harness/until.ts';
import type { BenchStack } from './bench-stack.ts';
import { EventReader, readerToken } from './event-reader.ts';
import { gatewayBytes, mebibytes } from './gateway-memory.ts';
import type { WorkloadResult } from './report.ts';

const SEED = nodeArguments(new URL('../../deploy/local/src/seed/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUNS = 100_000;
const OPEN_DASHBOARDS = 500;
/** The server has a limit for one person. */
const STREAMS_OF_EACH = 100;
const ROUNDS = 5;
const SCROLL_MS = 3_000;
const IDLE_MS = 60_000;
const ADA = { email: 'ada.bench@example.com', role: 'admin' } as const;

export async function measureDashboard(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const chromium = findChromium();
  if (chromium === null) throw new Error('This workload needs Chromium: apt-get install chromium');
  const runs = Math.ceil(RUNS * scale);
  const args = [...SEED, '--data-dir', stack.dataDir, '--runs', String(runs)];
  const seeded = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  if (seeded.status !== 0) throw new Error(seeded.stderr);
  const manySteps = await finishedRun(stack, stack.methods['many-steps'] ?? '');
  const session = await sessionOf({ ready: { base_url: stack.baseUrl, data_dir: stack.dataDir } } as never, ADA);
  const person = async () => {
    const browser = await openHeadlessBrowser(chromium);
    await browser.page.setViewportSize({ width: 1_440, height: 900 });
    await browser.page.context().addCookies([{ name: 'workflow_session', value: session, url: stack.baseUrl }]);
    return browser;
  };
  const at = (path: string) => `${stack.baseUrl}/o/${stack.orgId}${path}`;
  const notes = [
    ...(await firstPage(person, at('/'))),
    ...(await clicksAndPages(person, at('/'))),
    await openedRun(person, at('/'), at(`/runs/${manySteps}`)),
    await idlePage(person, at('/'), Math.ceil(IDLE_MS * Math.min(1, scale))),
    await openDashboards(stack, Math.ceil(OPEN_DASHBOARDS * scale)),
  ];
  return { measurements: [], notes: [`${runs.toLocaleString('en')} runs:`, ...notes] };
}

type Person = () => Promise<HeadlessBrowser>;

/** Notes when the first row of the list is painted, in ms since the navigation began. */
const NOTE_FIRST_ROW = `
  const look = () => document.querySelector('[role="row"][aria-rowindex="2"]') === null
    ? requestAnimationFrame(look)
    : requestAnimationFrame(() => { window.firstRowMs = performance.now(); });
  requestAnimationFrame(look);`;

async function firstPage(person: Person, url: string): Promise<string[]> {
  const times: number[] = [];
  let scripts = { bytes: 0, files: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    // With nothing in the browser's cache.
    await using browser = await person();
    const { page } = browser;
    await page.addInitScript(NOTE_FIRST_ROW);
    await page.goto(url);
    times.push(await until('the first row', () => page.evaluate<number | undefined>('window.firstRowMs')));
    scripts = await scriptsBeforeRows(page);
  }
  return [
    `scripts before the rows of the first page: ${(scripts.bytes / 1_000).toFixed(0)} kB gzip in ${scripts.files} files`,
    `first page with its rows, from an empty cache: ${inMs(times)}`,
  ];
}

async function clicksAndPages(person: Person, url: string): Promise<string[]> {
  await using browser = await person();
  const { page } = browser;
  await page.goto(url);
  await page.getByRole('grid', { name: 'Runs' }).waitFor();
  await page.getByRole('button', { name: 'Failed' }).waitFor();
  const clicks: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    clicks.push(await page.evaluate<number>(clickedFor('button[aria-pressed]', "each.textContent.includes('Failed')")));
    clicks.push(await page.evaluate<number>(clickedFor('button[aria-pressed]', "each.textContent.includes('Failed')")));
  }
  await page.goto(url);
  await page.getByRole('grid', { name: 'Runs' }).waitFor();
  const pages: number[] = [];
  for (let next = 0; next < 9; next++) {
    const ms = await page.evaluate<number | null>(NEXT_PAGE);
    if (ms !== null) pages.push(ms);
  }
  const frames = await page.evaluate<Frames>(scrolledFor(SCROLL_MS));
  const opens: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto(url);
    // A person's pointer is there before the click.
    await page
      .getByRole('grid', { name: 'Runs' })
      .getByRole('row')
      .nth(1 + round)
      .hover();
    opens.push(await page.evaluate<number>(openedRow(2 + round)));
  }
  return [
    `a click on a filter shows: ${inMs(clicks)}`,
    `a click on a run shows its page: ${inMs(opens)}`,
    `the next page of the list has its rows: ${inMs(pages)}`,
    `scrolling ${frames.rows.toLocaleString('en')} rows: ${frames.perSecond.toFixed(0)} frames a second, the slowest frame ${frames.slowestMs.toFixed(0)} ms`,
  ];
}

/** Until the next paint after the button has changed. */
function clickedFor(selector: string, which: string): string {
  return `(async () => {
    const button = [...document.querySelectorAll('${selector}')].find((each) => ${which});
    const before = button.getAttribute('aria-pressed');
    const begun = performance.now();
    button.click();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    do await frame(); while (button.isConnected && button.getAttribute('aria-pressed') === before);
    return performance.now() - begun;
  })()`;
}

/** Until the next paint after the page has another title. */
function openedRow(rowIndex: number): string {
  return `(async () => {
    const title = () => document.querySelector('h1')?.textContent;
    const [before, begun] = [title(), performance.now()];
    document.querySelector('[role="row"][aria-rowindex="${rowIndex}"] a').click();
    do await new Promise((resolve) => requestAnimationFrame(resolve)); while (title() === before);
    return performance.now() - begun;
  })()`;
}

/** Scrolls to the end until there are more rows. Null: the list has ended. */
const NEXT_PAGE = `(async () => {
  const count = () => Number(document.querySelector('[role="grid"]').getAttribute('aria-rowcount'));
  const before = count();
  const begun = performance.now();
  window.scrollTo(0, document.documentElement.scrollHeight);
  while (count() === before && performance.now() - begun < 5_000) await new Promise((done) => requestAnimationFrame(done));
  return count() === before ? null : performance.now() - begun;
})()`;

interface Frames {
  readonly rows: number;
  readonly perSecond: number;
  readonly slowestMs: number;
}

function scrolledFor(ms: number): string {
  return `(async () => {
    window.scrollTo(0, 0);
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    const begun = performance.now();
    let [frames, slowestMs, last] = [0, 0, begun];
    while (last - begun < ${ms}) {
      window.scrollBy(0, 60);
      await frame();
      const now = performance.now();
      slowestMs = Math.max(slowestMs, now - last);
      last = now;
      frames++;
    }
    const rows = Number(document.querySelector('[role="grid"]').getAttribute('aria-rowcount')) - 1;
    return { rows, perSecond: frames / ((last - begun) / 1_000), slowestMs };
  })()`;
}

async function openedRun(person: Person, home: string, url: string): Promise<string> {
  await using browser = await person();
  const { page } = browser;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto(home);
    await page.getByRole('grid', { name: 'Runs' }).waitFor();
    const begunMs = performance.now();
    await page.goto(url);
    await page.getByText('2,500 ok').waitFor();
    times.push(performance.now() - begunMs);
  }
  return `a run of 5,000 steps opens: ${inMs(times)}`;
}

async function idlePage(person: Person, url: string, ms: number): Promise<string> {
  await using browser = await person();
  const { page, requested } = browser;
  await page.goto(url);
  await page.getByRole('grid', { name: 'Runs' }).waitFor();
  await settled(page, requested);
  const before = requested.length;
  await elapse(ms);
  const asked = requested.slice(before).map((address) => new URL(address).pathname);
  return `an idle page asks ${asked.length} times in ${ms / 1_000} s${asked.length > 0 ? `: ${asked.join(', ')}` : ''}`;
}

/** Until it has asked for nothing for a second. */
async function settled(page: Page, requested: readonly string[]): Promise<void> {
  await page.waitForLoadState('load');
  for (let seen = -1; seen !== requested.length; ) {
    seen = requested.length;
    await elapse(1_000);
  }
}

async function openDashboards(stack: BenchStack, count: number): Promise<string> {
  const people = Array.from({ length: Math.ceil(count / STREAMS_OF_EACH) }, (_, n) => readerToken(stack, n));
  const tokens = await Promise.all(people);
  const readers: EventReader[] = [];
  try {
    for (const token of tokens) {
      const left = Math.min(STREAMS_OF_EACH, count - readers.length);
      const opened = Array.from({ length: left }, () => EventReader.open(stack.baseUrl, token));
      readers.push(...(await Promise.all(opened)));
    }
    return `the gateway with ${count} open dashboards: ${mebibytes(await gatewayBytes(stack))} of private memory`;
  } finally {
    for (const reader of readers) reader.leave();
  }
}

async function finishedRun(stack: BenchStack, method: string): Promise<string> {
  const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ method, inputs: {} });
  const reply = await fetch(`${stack.baseUrl}/v1/runs`, { method: 'POST', headers, body });
  const { run_id: runId } = (await reply.json()) as { run_id: string };
  await until('the run of 5,000 steps ends', async () => {
    const run = await fetch(`${stack.baseUrl}/v1/runs/${runId}?wait_ms=20000`, { headers });
    const { status } = (await run.json()) as { status: string };
    if (status === 'failed') throw new Error('the run of 5,000 steps failed');
    return status === 'succeeded';
  });
  return runId;
}

/** The middle and the worst. */
function inMs(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `${middle.toFixed(0)} ms (at most ${(sorted.at(-1) ?? 0).toFixed(0)})`;
}
