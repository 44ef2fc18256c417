// The dashboard as one develops it: its sources, served in front of a running stack, with the page of all its parts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { faults, keepsRules, signedInVisitor, skip } from '../e2e/dashboard/visitor.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';

const ADA = { email: 'ada.design@example.com', role: 'admin' } as const;
const DASHBOARD = nodeArguments(new URL('../../gateway/dashboard/build/development/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the sources are served in front of a stack, with a page that shows all parts; a build has no such page', {
  skip,
}, async () => {
  const stack = await commonStack();
  const { base_url: base, org_id: org } = stack.ready;
  const server = spawn(process.execPath, [...DASHBOARD, '--server', base], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let address = '';
    createInterface({ input: server.stdout }).on('line', (line) => {
      address ||= /runs at (\S+) /.exec(line)?.[1] ?? '';
    });
    await until('it serves', () => address !== '');
    await using browser = await signedInVisitor(stack, ADA);
    const { page } = browser;
    page.setDefaultTimeout(60_000);
    await page.goto(`${address}/o/${org}/design`);
    await page.getByRole('grid', { name: 'Statuses' }).getByText('Waiting').waitFor();
    await page.getByText('Runs could not be loaded').first().waitFor();
    await keepsRules(page, 'design');
    await page.goto(`${address}/o/${org}/workers`);
    await page.getByRole('grid', { name: 'Workers' }).waitFor();
    assert.deepEqual(faults(browser), []);
    await page.goto(`${base}/o/${org}/design`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  }
});
