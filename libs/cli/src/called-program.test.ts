import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { CalledProgram } from './called-program.ts';
import { readConfig } from './config.ts';

/** What the program prints about the error. */
function told(error: unknown): string {
  const stderr = new PassThrough();
  const streams = { stdin: process.stdin, stdout: new PassThrough(), stderr } as unknown as NodeJS.Process;
  const around = { streams, cwd: '/', config: readConfig(), interrupted: new AbortController().signal };
  assert.equal(new CalledProgram(['run'], around).told(error), 1);
  return String(stderr.read());
}

test('what the system refuses is reported as that, and any other error as a fault of the command', () => {
  const refused = (code: string, more: object) => told(Object.assign(new Error(code), { code, ...more }));
  assert.match(refused('EACCES', { path: '/srv/a' }), /^error: cannot use \/srv\/a: this user may not\n/);
  assert.match(refused('EROFS', { path: '/srv/a' }), /cannot use \/srv\/a: it cannot be changed\n/);
  assert.match(refused('EDQUOT', { syscall: 'write' }), /cannot write: the disk is full\n/);
  assert.match(
    refused('ENOENT', { syscall: 'mkdir', path: '/srv/a' }),
    /cannot use \/srv\/a: the folder cannot be made\n/,
  );
  assert.match(refused('ENOENT', { syscall: 'open', path: '/srv/a' }), /this is a fault of methods/);
  assert.match(refused('EACCES', { syscall: 'listen' }), /this is a fault of methods/);
});
