import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { readConfig } from '../config.ts';
import { keyOfFile, localKey } from './local-key.ts';
import { UnfinishedRotations } from './unfinished-rotations.ts';

const SERVER = 'https://methods.example.com';
const { key, authPart } = createServiceKey();
const other = createServiceKey().key;

test('the key is that of the environment, else of .env, unless that is for another server', async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), 'methods-keys-'));
  t.after(() => rm(cwd, { recursive: true }));
  const found = async (env: string | null, variables = {}) => {
    if (env !== null) await writeFile(join(cwd, '.env'), env);
    return (await localKey({ cwd, config: readConfig(variables) }, SERVER))?.authPart ?? null;
  };
  assert.equal(await found(null), null);
  assert.equal(await found(`A=1\nSERVICE_API_KEY="${key}" # why\n`), authPart);
  assert.equal(await found(`SERVICE_API_KEY=${key}\nMETHODS_SERVER=${SERVER}/\n`), authPart);
  assert.equal(await found(`SERVICE_API_KEY=${key}\nMETHODS_SERVER=https://other.example.com\n`), null);
  const environment = { SERVICE_API_KEY: other };
  assert.equal(await found(`SERVICE_API_KEY=${key}\n`, environment), parseBearerKey(other)?.authPart);
  await assert.rejects(found(`SERVICE_API_KEY=${authPart}\n`), { code: 'not_a_whole_key' });
  await assert.rejects(found(`SERVICE_API_KEY=${key.slice(0, -1)}\n`), (error: Error) => {
    assert.ok(!error.message.includes(key.slice(3, 20)));
    return 'code' in error && error.code === 'invalid_key';
  });

  await writeFile(join(cwd, 'alone.txt'), ` ${key}\r\n`);
  await writeFile(join(cwd, 'named.env'), `X=1\nSERVICE_API_KEY=${key}\n`);
  for (const file of ['alone.txt', 'named.env']) assert.equal((await keyOfFile(file, cwd)).authPart, authPart, file);
  await assert.rejects(keyOfFile('none', cwd), {
    code: 'not_found',
    message: 'cannot read none: there is no such file',
  });
});

test('an unfinished rotation keeps its key for its owner only, and one that cannot be read is begun again', async (t) => {
  const state = await mkdtemp(join(tmpdir(), 'methods-keys-'));
  t.after(() => rm(state, { recursive: true }));
  const of = (server: string, keyId: string) => new UnfinishedRotations(state, server, keyId);
  const first = await of(SERVER, 'key_1').begin('shop');
  assert.deepEqual(await of(SERVER, 'key_1').begin('another name'), first);
  for (const each of [of(SERVER, 'key_2'), of('https://other.example.com', 'key_1')]) {
    assert.notEqual((await each.begin('shop')).serviceKey, first.serviceKey);
  }
  const folder = join(state, 'methods', 'rotations');
  const names = await readdir(folder);
  assert.equal(names.length, 3);
  for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o077, 0);
  for (const name of names) await writeFile(join(folder, name), '{"serviceKey":"sk_');
  const second = await of(SERVER, 'key_1').begin('shop');
  assert.notEqual(second.serviceKey, first.serviceKey);
  await of(SERVER, 'key_1').forget();
  assert.equal((await readdir(folder)).length, 2);
});
