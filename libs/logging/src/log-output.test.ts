import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { tempFolder } from '@methods/test/harness/temp-folder';

function chatty(lines: number, stderr: 'pipe' | number): ChildProcess {
  const script = nodeArguments(new URL('./chatty-service.fixture.ts', import.meta.url));
  return spawn(process.execPath, [...script, String(lines)], { env: {}, stdio: ['ignore', 'ignore', stderr, 'ipc'] });
}

async function heard(child: ChildProcess, word: string): Promise<void> {
  const [said] = await once(child, 'message');
  assert.equal(said, word);
}

function linesOf(text: string): number[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).line);
}

test('a log that no one reads blocks neither its process nor its end, and later reports the number of dropped records', async () => {
  const child = chatty(2_000, 'pipe');
  await heard(child, 'ready');
  for (const word of ['one', 'two']) {
    child.send(word);
    await heard(child, word);
  }
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  while (!text.includes('were dropped')) await once(child.stderr as NodeJS.EventEmitter, 'data');
  const dropped = JSON.parse(text.split('\n').find((line) => line.includes('were dropped')) ?? '').lines;
  const written = linesOf(text).filter((line) => line !== undefined);
  assert.equal(written.length + dropped, 2_000);
  assert.deepEqual(
    written,
    Array.from({ length: written.length }, (_, i) => i),
  );
  child.stderr?.pause();
  child.send('exit');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('a process that no one reads ends', async () => {
  const child = chatty(2_000, 'pipe');
  await heard(child, 'ready');
  child.send('exit');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  child.stderr?.destroy();
});

test('writes everything logged before the end or a fault of a process', async () => {
  const folder = tempFolder('log-output');
  for (const word of ['exit', 'fault']) {
    const path = join(folder, word);
    const file = await open(path, 'w');
    const child = chatty(200, file.fd);
    await heard(child, 'ready');
    child.send('log');
    child.send(word);
    await once(child, 'exit');
    await file.close();
    const lines = linesOf(readFileSync(path, 'utf8'));
    assert.deepEqual(
      lines.sort((a, b) => a - b),
      Array.from({ length: 201 }, (_, i) => i),
    );
  }
});
