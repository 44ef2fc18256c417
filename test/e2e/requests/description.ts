// The service's own description: its API, the page to read it, and its health.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Stack } from '../stack.ts';

interface Description {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly components: { readonly securitySchemes: Readonly<Record<string, { type: string; scheme: string }>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly security: readonly object[];
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    schema: object;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    >
  >;
}

interface Schema {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, object>>;
}

/** Types by route: files of a run, and sealed files of a run in device mode. */
const DOWNLOADS: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/runs/{id}/files': ['application/gzip', 'application/vnd.methods.sealed'],
  'GET /v1/runs/{id}/files/{path}': ['application/octet-stream'],
};

export function description(stack: () => Stack): void {
  describe('the description of the interface', () => {
    let told: Description;
    before(async () => {
      const response = await fetch(`${stack().ready.base_url}/openapi.json`);
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
      told = (await response.json()) as Description;
    });

    test('is OpenAPI 3.1 with this server and the credentials it takes', () => {
      assert.match(told.openapi, /^3\.1\.\d+$/);
      assert.ok(told.info.title !== '' && told.info.version !== '');
      assert.deepEqual(told.servers, [{ url: stack().ready.base_url }]);
      const { serviceKey } = told.components.securitySchemes;
      assert.deepEqual([serviceKey?.type, serviceKey?.scheme], ['http', 'bearer']);
      for (const name of programOperations().flatMap(({ operation }) => operation.security.flatMap(Object.keys))) {
        assert.ok(told.components.securitySchemes[name], name);
      }
    });

    /** What programs call. */
    function programOperations() {
      return Object.entries(told.paths)
        .filter(([path]) => path.startsWith('/v1/'))
        .flatMap(([path, methods]) =>
          Object.entries(methods).map(([method, operation]) => ({
            route: `${method.toUpperCase()} ${path}`,
            operation,
          })),
        );
    }

    test('lists the routes of runs, each with what it takes and what it answers', () => {
      const operations = programOperations();
      assert.deepEqual(operations.map(({ route }) => route).sort(), [
        'DELETE /v1/files/{id}',
        'GET /v1/events',
        'GET /v1/files/{id}',
        'GET /v1/methods/{id}',
        'GET /v1/runs',
        'GET /v1/runs/{id}',
        'GET /v1/runs/{id}/events',
        'GET /v1/runs/{id}/files',
        'GET /v1/runs/{id}/files/{path}',
        'GET /v1/runs/{id}/start',
        'GET /v1/whoami',
        'POST /v1/files',
        'POST /v1/runs',
        'POST /v1/runs/batch',
        'POST /v1/runs/{id}/answer',
        'POST /v1/runs/{id}/cancel',
        'POST /v1/runs/{id}/rerun',
      ]);
      assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
      for (const { route, operation } of operations) {
        const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        assert.deepEqual(
          declared.map(({ name, required }) => [name, required]),
          inPath.map((name) => [name, true]),
        );
        for (const [status, response] of Object.entries(operation.responses)) {
          assert.match(status, /^(\d{3}|\dXX)$/, route);
          assert.ok(typeof response.description === 'string', `${route} ${status}`);
          if (status === '204' || response.content?.['text/event-stream']) continue;
          const types = DOWNLOADS[route];
          if (types !== undefined && status === '200') {
            const bytes = { schema: { type: 'string', format: 'binary' } };
            assert.deepEqual(response.content, Object.fromEntries(types.map((type) => [type, bytes])));
            continue;
          }
          const schema = response.content?.['application/json']?.schema;
          assert.ok(schema?.properties, `${route} ${status} has no schema`);
        }
      }
    });

    test('says what a start takes: the fields, those required, and no others', () => {
      const { requestBody, parameters } = told.paths['/v1/runs']?.post ?? {};
      const schema = requestBody?.content['application/json']?.schema;
      assert.deepEqual(schema?.required, ['method']);
      assert.equal(schema?.additionalProperties, false);
      const documented = ['inputs', 'version', 'idempotency_key', 'webhook_url', 'answer_by', 'metadata'];
      for (const field of documented) assert.ok(schema?.properties?.[field], field);
      assert.deepEqual(
        parameters?.map(({ name, in: place }) => `${place} ${name}`),
        ['query wait_ms', 'query after_question'],
      );
      const batch = told.paths['/v1/runs/batch']?.post?.requestBody?.content['application/json']?.schema;
      const runs = batch?.properties?.runs as { readonly items?: Schema } | undefined;
      assert.deepEqual(runs?.items?.properties, schema?.properties, 'a batch holds the same starts');
    });

    test('says how long the reply to an answer may be held', () => {
      const { parameters } = told.paths['/v1/runs/{id}/answer']?.post ?? {};
      const query = (parameters ?? []).filter((parameter) => parameter.in === 'query');
      const [wait] = query;
      assert.deepEqual(
        query.map(({ name }) => name),
        ['wait_ms'],
      );
      const { maximum } = (wait?.schema ?? {}) as { maximum?: number };
      assert.deepEqual([maximum, wait?.required ?? false], [60_000, false]);
    });

    test('fits the replies: every field of a run is described', async () => {
      const reply = await stack().api.startSettled({ method: stack().method('two-questions') });
      const schema = told.paths['/v1/runs/{id}']?.get?.responses['200']?.content?.['application/json']?.schema;
      for (const field of Object.keys(reply)) assert.ok(schema?.properties?.[field], field);
      for (const field of schema?.required ?? []) assert.ok(field in reply, field);
      await stack().api.cancel(reply.run_id);
    });

    test('can be read on a page that needs no other server', async () => {
      const { base_url: baseUrl } = stack().ready;
      const page = await fetch(`${baseUrl}/reference`);
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
      const html = await page.text();
      assert.match(html, /\/openapi\.json/);
      const assets = [...html.matchAll(/<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]+)"/g)].map(
        ([, url = '']) => url,
      );
      assert.ok(assets.length > 0, 'the page loads nothing');
      for (const asset of assets) {
        const url = new URL(asset, page.url);
        assert.equal(url.origin, baseUrl, 'an asset of another server');
        const loaded = await fetch(url);
        assert.equal(loaded.status, 200, asset);
        assert.ok((await loaded.arrayBuffer()).byteLength > 0, asset);
      }
    });

    test('is not needed to know whether the gateway lives and serves; neither needs a key', async () => {
      const { base_url: baseUrl } = stack().ready;
      const health = await fetch(`${baseUrl}/healthz`);
      assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
      const readiness = await fetch(`${baseUrl}/readyz`);
      assert.deepEqual([readiness.status, await readiness.json()], [200, { status: 'ready' }]);
    });
  });
}
