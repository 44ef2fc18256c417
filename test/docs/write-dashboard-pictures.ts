// npm run generate:pictures: makes the pictures of the dashboard in docs/images, light and dark, on a stack of its own
// that the seed fills.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { person, sessionOf } from '../e2e/people.ts';
import { startStack } from '../e2e/stack.ts';
import { findChromium, openHeadlessBrowser } from '../harness/headless-browser.ts';
import { startSharedPostgres } from '../harness/postgres.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const SEED = nodeArguments(new URL('../../deploy/local/src/seed/main.ts', import.meta.url));
const ADA = { email: 'ada@example.com', role: 'admin' } as const;

const chromium = findChromium();
if (chromium === null) throw new Error('The pictures need Chromium: apt-get install chromium');

const postgres = await startSharedPostgres();
process.env.METHODS_TEST_POSTGRES_URL = postgres.url;
const stack = await startStack('pictures', { args: ['--workers', '1'] });
try {
  const env = { ...process.env, XDG_STATE_HOME: join(dirname(stack.ready.data_dir), 'state') };
  const size = ['--runs', '4000', '--methods', '24', '--questions', '9'];
  const seeded = spawnSync(process.execPath, [...SEED, '--data-dir', stack.ready.data_dir, ...size], {
    encoding: 'utf8',
    env,
  });
  if (seeded.status !== 0) throw new Error(seeded.stderr);
  const ada = await person(stack, ADA);
  const { items } = (await ada.request('GET', '/api/runs?status=waiting&limit=1')).read<{
    items: { run_id: string }[];
  }>();
  const runId = items[0]?.run_id ?? '';
  const at = (path: string) => `${stack.ready.base_url}/o/${stack.ready.org_id}${path}`;
  await using browser = await openHeadlessBrowser(chromium);
  const { page } = browser;
  const value = await sessionOf(stack, ADA);
  await page.context().addCookies([{ name: 'workflow_session', value, url: stack.ready.base_url }]);
  await page.setViewportSize({ width: 1_280, height: 800 });
  const pages = [
    ['production', '/', 'Method and version'],
    ['run', `/runs/${runId}?step=approval`, 'Send answer'],
    ['inbox', '/inbox', 'Send answer'],
  ] as const;
  for (const [name, path, words] of pages) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(at(path));
      await page.getByText(words).first().waitFor();
      await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
      // What is not needed to read a page comes last.
      await page.getByRole('button', { name: /^Organization / }).waitFor();
      if (name === 'production') await page.getByRole('search').waitFor();
      await page.screenshot({ path: join(IMAGES, `dashboard-${name}-${colorScheme}.png`) });
    }
  }
} finally {
  await stack.stop();
  await postgres.stop('SIGQUIT');
}
