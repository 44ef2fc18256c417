import { deepEqual, equal, rejects } from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { SealedStarts } from './sealed-starts.ts';

const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };

let server: Server;
let api: ServerApi;
let asked: { readonly path: string | undefined; readonly authorization: string | undefined }[];
let onDevices: boolean;
let isOld: boolean;

before(async () => {
  server = createServer(({ url: path, headers }, response) => {
    asked.push({ path, authorization: headers.authorization });
    if (isOld) return void response.writeHead(404).end('{"error":"not_found"}');
    const program = { org_id: 'org_01', key_id: 'key_01', content_on_devices: onDevices, content_grants: [] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(program));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new ServerApi({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    facts: FACTS,
    credentials: { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL },
    interrupted: new AbortController().signal,
  });
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  onDevices = true;
  isOld = false;
});

const surroundings = (serviceKey: string | null) =>
  ({ config: { serviceKey }, cwd: '/' }) as unknown as Parameters<typeof SealedStarts.ifKept>[1];

test('starts leave as they are where content is kept with the service', async () => {
  onDevices = false;
  equal(await SealedStarts.ifKept(api, surroundings(null)), null);
  isOld = true;
  equal(await SealedStarts.ifKept(api, surroundings(null)), null);
});

test('without a whole service key nothing is sealed, and nothing is sent', async () => {
  await rejects(SealedStarts.ifKept(api, surroundings(null)), { code: 'device_key_required' });
  await rejects(SealedStarts.ifKept(api, surroundings(createServiceKey().authPart)), { code: 'not_a_whole_key' });
  deepEqual(new Set(asked.map(({ path }) => path)), new Set(['/v1/whoami']));
});

test('only the auth part of the key leaves, and inputs are sealed for a content id of their own', async () => {
  const { key, authPart } = createServiceKey();
  const starts = await SealedStarts.ifKept(api, surroundings(key));
  const { inputs, content_id: contentId, run_data: runData } = starts?.sealed({ inputs: { secret: 'word' } }) ?? {};
  deepEqual([asked.at(-1)?.authorization, runData], [`Bearer ${authPart}`, 'device']);
  deepEqual(Object.keys(inputs as object), ['$sealed']);
  const again = starts?.sealed({ inputs: { secret: 'word' } });
  equal(contentId === again?.content_id, false);
  equal(starts?.earlier({ inputs: {} }, 0), null);
});

test('inputs that are too large are refused as the server refuses them', async () => {
  const starts = await SealedStarts.withKey(api, surroundings(createServiceKey().key));
  const error = await Promise.resolve()
    .then(() => starts.sealed({ inputs: { text: 'x'.repeat(256 * 1024) } }))
    .catch((thrown: unknown) => thrown);
  deepEqual(
    [(error as { code: string }).code, (error as { details: { code: string }[] }).details[0]?.code],
    ['too_large', 'inputs_bytes'],
  );
});
