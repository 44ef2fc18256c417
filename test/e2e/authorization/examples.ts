// A request that would do its work, for every route; a route without one fails the matrix. Objects are filled in.
import { createHash } from 'node:crypto';
import { countingSource } from '../saved-method.ts';
import { type Objects, RECORDING } from './organizations.ts';
import { WATCHED } from './watched-runs.ts';

export interface Example {
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as they are. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ExampleRow {
  /**
   * `fresh`: new every time, for keys that are to be used once. `own`: of the caller's organization, for any `objects`.
   */
  request(objects: Objects, fresh: string, own: Objects): Example;
  /** How a request for what is not there is answered, where that is no 404. */
  readonly absent?: 200;
  /** How a request for what is there may be answered, where even that is refused. */
  readonly present?: 400 | 404 | 405;
  /** What it names takes nothing any more. */
  readonly closed?: true;
}

type Rows = Readonly<Record<string, readonly ExampleRow[]>>;

const one = (request: ExampleRow['request']): readonly ExampleRow[] => [{ request }];
const at = (path: string) => one(() => ({ path }));
const SOURCE = countingSource(1);

const PUBLIC: Rows = {
  'GET /openapi.json': at('/openapi.json'),
  'GET /reference': at('/reference'),
  'GET /reference/': at('/reference/'),
  'GET /reference/js/scalar.js': at('/reference/js/scalar.js'),
  'GET /healthz': at('/healthz'),
  'GET /readyz': at('/readyz'),
  'GET /schemas/method-2.json': at('/schemas/method-2.json'),
  'GET /.well-known/methods': at('/.well-known/methods'),
  'GET /.well-known/oauth-protected-resource': at('/.well-known/oauth-protected-resource'),
  'GET /.well-known/oauth-protected-resource/mcp': at('/.well-known/oauth-protected-resource/mcp'),
  'GET /packages': at('/packages'),
  'GET /packages/:hash/:name': at('/packages/0000000000000000/unknown'),
  'GET /assets/:name': at('/assets/unknown'),
  'GET /*': at('/unknown'),
  'HEAD /*': at('/unknown'),
  'GET /a/*': at('/a/unknown'),
  'HEAD /a/*': at('/a/unknown'),
  'POST /a/*': at('/a/unknown'),
  'GET /questions/:id': at('/questions/unknown'),
  'HEAD /questions/:id': at('/questions/unknown'),
  'POST /questions/:id': at('/questions/unknown'),
  'GET /auth/login': at('/auth/login?return_to=/'),
  'GET /auth/callback': at('/auth/callback?code=x&state=y'),
  'POST /auth/logout': one(() => ({ path: '/auth/logout', headers: { origin: 'https://elsewhere.example' } })),
};

function runs(base: '/v1/runs' | '/api/runs'): Rows {
  return {
    [`POST ${base}`]: [
      { request: ({ methodId }) => ({ path: base, body: { method: `wf_${methodId}`, inputs: { n: 1 } } }) },
      {
        request: ({ versionId }, _fresh, own) => ({
          path: base,
          body: { method: `wf_${own.methodId}`, version: versionId, inputs: { n: 1 } },
        }),
      },
    ],
    [`POST ${base}/batch`]: one((_objects, _fresh, own) => ({
      path: `${base}/batch`,
      body: { runs: [{ method: `wf_${own.methodId}`, inputs: { n: 1 } }] },
    })),
    [`GET ${base}`]: at(base),
    [`GET ${base}/:id`]: one(({ runId }) => ({ path: `${base}/${runId}` })),
    [`POST ${base}/:id/answer`]: one(({ runId }) => ({ path: `${base}/${runId}/answer`, body: { answer: {} } })),
    [`POST ${base}/:id/cancel`]: one(({ runId }) => ({ path: `${base}/${runId}/cancel` })),
    [`POST ${base}/:id/rerun`]: one(({ runId }) => ({ path: `${base}/${runId}/rerun` })),
    [`GET ${base}/:id/files`]: one(({ runId }) => ({ path: `${base}/${runId}/files` })),
    [`GET ${base}/:id/files/*`]: one(({ runId, fileId }) => ({ path: `${base}/${runId}/files/inputs/${fileId}/file` })),
    [`GET ${base}/:id/events`]: one(({ runId }) => ({ path: `${base}/${runId}/events` })),
  };
}

function contentGrant(keyId: string, fromKeyId: string): Example {
  const wrapped = Buffer.concat([Buffer.from([1, 9]), Buffer.alloc(123)]).toString('base64url');
  return { path: `/api/keys/${keyId}/content-grants`, body: { from_key_id: fromKeyId, wrapped } };
}

const QUESTIONS: Rows = {
  'GET /api/inbox': at('/api/inbox'),
  'GET /api/inbox/counts': at('/api/inbox/counts'),
  'GET /api/questions/:id': one(({ questionId }) => ({ path: `/api/questions/${questionId}` })),
  'POST /api/questions/:id/assign': one(({ questionId }, _fresh, { userId }) => ({
    path: `/api/questions/${questionId}/assign`,
    body: { assignee: userId },
  })),
  'POST /api/questions/:id/delegate': one(({ questionId }, _fresh, { userId }) => ({
    path: `/api/questions/${questionId}/delegate`,
    body: { to: userId },
  })),
  'POST /api/questions/:id/answer': one(({ questionId }) => ({
    path: `/api/questions/${questionId}/answer`,
    body: { answer: {} },
  })),
};

const EVENTS: Rows = {
  'GET /v1/events': at('/v1/events'),
  'GET /api/events': at('/api/events'),
};

const CALLER_METHODS: Rows = {
  'GET /v1/whoami': at('/v1/whoami'),
  // The run is not in device mode.
  'GET /v1/runs/:id/start': [{ request: ({ runId }) => ({ path: `/v1/runs/${runId}/start` }), present: 404 }],
  'GET /v1/methods/:id': [
    { request: ({ methodId }) => ({ path: `/v1/methods/${methodId}` }) },
    { request: ({ versionId }, _fresh, own) => ({ path: `/v1/methods/${own.methodId}?version=${versionId}` }) },
  ],
};

function methods(base: '/api/methods' | '/api/workflows'): Rows {
  return {
    [`POST ${base}`]: [
      { request: (_objects, fresh) => ({ path: base, body: { idempotency_key: fresh, source: SOURCE } }) },
      {
        request: ({ uploadId }, fresh) => ({ path: base, body: { idempotency_key: fresh, upload_id: uploadId } }),
        // Nothing has been sent yet.
        present: 400,
      },
    ],
    [`GET ${base}`]: at(base),
    [`GET ${base}/:id`]: one(({ methodId }) => ({ path: `${base}/${methodId}` })),
    [`PATCH ${base}/:id`]: one(({ methodId }) => ({ path: `${base}/${methodId}`, body: { display_name: 'Counting' } })),
    [`GET ${base}/:id/agent-prompt`]: one(({ methodId }) => ({ path: `${base}/${methodId}/agent-prompt` })),
    [`GET ${base}/:id/versions`]: one(({ methodId }) => ({ path: `${base}/${methodId}/versions` })),
    [`GET ${base}/:id/versions/:version_id`]: [
      { request: ({ methodId, versionId }) => ({ path: `${base}/${methodId}/versions/${versionId}` }) },
      { request: ({ versionId }, _fresh, own) => ({ path: `${base}/${own.methodId}/versions/${versionId}` }) },
    ],
    [`POST ${base}/:id/publish`]: [
      {
        request: ({ methodId, versionId }) => ({
          path: `${base}/${methodId}/publish`,
          body: { version_id: versionId },
        }),
      },
      {
        request: ({ versionId }, _fresh, own) => ({
          path: `${base}/${own.methodId}/publish`,
          body: { version_id: versionId },
        }),
      },
    ],
    [`POST ${base}/:id/versions`]: one(({ methodId, versionId }) => ({
      path: `${base}/${methodId}/versions`,
      body: { source: SOURCE, base_version: versionId, reason: 'changed' },
    })),
    [`POST ${base}/:id/retry`]: one(({ methodId }) => ({ path: `${base}/${methodId}/retry` })),
    [`POST ${base}/validate`]: one(() => ({ path: `${base}/validate`, body: { source: SOURCE } })),
  };
}

function cliMethods(base: '/api/cli/methods' | '/api/cli/workflows'): Rows {
  return {
    [`POST ${base}`]: one((_objects, fresh) => ({ path: base, body: { workflow: SOURCE, request_id: fresh } })),
    [`GET ${base}/:id`]: [
      { request: ({ methodId }) => ({ path: `${base}/${methodId}` }) },
      { request: ({ versionId }, _fresh, own) => ({ path: `${base}/${own.methodId}?version=${versionId}` }) },
    ],
    [`POST ${base}/:id`]: one(({ methodId, versionId }) => ({
      path: `${base}/${methodId}`,
      body: { workflow: SOURCE, base_version: versionId, reason: 'changed' },
    })),
  };
}

const LOCAL_RUN = '/api/cli/runs/run_0001m7y804g33sn568qvqft2vt';
const record = (methodId: string, versionId: string) => ({
  path: LOCAL_RUN,
  body: { workflow_id: methodId, version_id: versionId, sequence: 1, inspection: { status: 'succeeded' } },
});

const MCP: Rows = {
  'POST /mcp': [
    { request: () => called('list_methods', {}) },
    { request: ({ methodId }) => called('get_method', { method_id: methodId }), absent: 200 },
    {
      request: ({ versionId }, _fresh, own) =>
        called('get_method_source', { method_id: own.methodId, version: versionId }),
      absent: 200,
    },
  ],
  // The streams and sessions of an earlier protocol.
  'GET /mcp': [{ request: () => ({ path: '/mcp' }), present: 405 }],
  'DELETE /mcp': [{ request: () => ({ path: '/mcp' }), present: 405 }],
};

/** A tool, as a client of the 2026-07-28 era calls it. */
function called(name: string, args: object): Example {
  const [meta, era] = ['io.modelcontextprotocol/', '2026-07-28'];
  const _meta = { [`${meta}protocolVersion`]: era, [`${meta}clientCapabilities`]: {} };
  const params = { name, arguments: args, _meta };
  return {
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  };
}

const CALLER_FILES: Rows = {
  'POST /v1/files': one(() => ({ path: '/v1/files', bytes: RECORDING })),
  // Only the key that sent a file sees it.
  'GET /v1/files/:id': [{ request: ({ fileId }) => ({ path: `/v1/files/${fileId}` }), present: 404 }],
  'DELETE /v1/files/:id': [{ request: ({ fileId }) => ({ path: `/v1/files/${fileId}` }), present: 404 }],
};

const CLI_RUNS: Rows = {
  'PUT /api/cli/runs/:id': [
    { request: ({ methodId, versionId }) => record(methodId, versionId) },
    { request: ({ versionId }, _fresh, own) => record(own.methodId, versionId) },
  ],
};

const UPLOADS: Rows = {
  'POST /api/workflow-uploads': one((_objects, fresh) => ({
    path: '/api/workflow-uploads',
    body: { idempotency_key: fresh, file_name: 'a.har', content_type: 'application/json', size: 10 },
  })),
  'GET /api/workflow-uploads/:id': one(({ uploadId }) => ({ path: `/api/workflow-uploads/${uploadId}` })),
  'GET /api/workflow-creation-requests/:sha256': [
    {
      request: ({ creationSha256 }) => ({ path: `/api/workflow-creation-requests/${creationSha256}` }),
      absent: 200,
    },
  ],
  'PUT /api/workflow-uploads/:id/content': content({}, RECORDING),
  'HEAD /api/workflow-uploads/:id/content': content({ 'tus-resumable': '1.0.0' }),
  'OPTIONS /api/workflow-uploads/:id/content': content({ 'tus-resumable': '1.0.0' }),
  'PATCH /api/workflow-uploads/:id/content': content(
    { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    RECORDING,
  ),
};

function content(headers: Readonly<Record<string, string>>, bytes?: Uint8Array<ArrayBuffer>): readonly ExampleRow[] {
  const sent = { headers, ...(bytes && { bytes }) };
  return [
    { request: ({ uploadId }) => ({ path: `/api/workflow-uploads/${uploadId}/content`, ...sent }) },
    {
      request: ({ expiredUploadId }) => ({ path: `/api/workflow-uploads/${expiredUploadId}/content`, ...sent }),
      closed: true,
    },
  ];
}

const ENDPOINTS: Rows = {
  'GET /api/endpoints': at('/api/endpoints'),
  'POST /api/endpoints': one((_objects, fresh) => ({
    path: '/api/endpoints',
    body: { name: fresh, url: 'https://hook.example/in', events: ['failed'] },
  })),
  'PATCH /api/endpoints/:id': one(({ endpointId }) => ({
    path: `/api/endpoints/${endpointId}`,
    body: { url: 'https://hook.example/other', paused: true },
  })),
  'POST /api/endpoints/:id/rotate': one(({ endpointId }) => ({ path: `/api/endpoints/${endpointId}/rotate` })),
  // Gone after the first of them, which are the last of all.
  'DELETE /api/endpoints/:id': [
    { request: ({ endpointId }) => ({ path: `/api/endpoints/${endpointId}` }), present: 404 },
  ],
  'GET /api/usage': at('/api/usage'),
  'GET /api/workers': at('/api/workers'),
  'GET /api/deliveries': [
    { request: () => ({ path: '/api/deliveries' }) },
    { request: ({ runId }) => ({ path: `/api/deliveries?run=${runId}` }), absent: 200 },
    { request: ({ endpointId }) => ({ path: `/api/deliveries?endpoint=${endpointId}` }), absent: 200 },
  ],
  'GET /api/deliveries/:id': one(({ deliveryId }) => ({ path: `/api/deliveries/${deliveryId}` })),
  'POST /api/deliveries/:id/resend': one(({ deliveryId }) => ({ path: `/api/deliveries/${deliveryId}/resend` })),
  'POST /api/deliveries/resend': [
    {
      request: ({ deliveryId }) => ({ path: '/api/deliveries/resend', body: { ids: [deliveryId] } }),
      absent: 200,
    },
  ],
};

const ACCOUNT: Rows = {
  'GET /api/whoami': at('/api/whoami'),
  'GET /api/settings': at('/api/settings'),
  'PATCH /api/settings': one(() => ({ path: '/api/settings', body: { retention_days: 31 } })),
  'GET /api/members': at('/api/members'),
  // A disabled member has no role to change, and the two come in any order.
  'PATCH /api/members/:id': [
    {
      request: ({ userId }) => ({ path: `/api/members/${userId}`, body: { role: 'viewer' } }),
      present: 404,
    },
  ],
  'DELETE /api/members/:id': one(({ userId }) => ({ path: `/api/members/${userId}` })),
  'GET /api/audit': at('/api/audit'),
  'GET /api/keys': at('/api/keys'),
  'POST /api/keys': one((_objects, fresh) => ({
    path: '/api/keys',
    body: { name: 'new', auth_sha256: createHash('sha256').update(fresh).digest('hex') },
  })),
  'POST /api/keys/:id/webhook-secret': one(({ keyId }) => ({ path: `/api/keys/${keyId}/webhook-secret` })),
  'POST /api/keys/:id/content-grants': [
    { request: ({ keyId }, _fresh, own) => contentGrant(keyId, own.grantKeyId) },
    { request: ({ keyId }, _fresh, own) => contentGrant(own.grantKeyId, keyId) },
  ],
  'POST /api/keys/:id/revoke': one(({ keyId }) => ({ path: `/api/keys/${keyId}/revoke` })),
};

/** By the route's name, for example `GET /v1/runs/:id`. */
export const EXAMPLES: Rows = {
  ...PUBLIC,
  ...runs('/v1/runs'),
  ...runs('/api/runs'),
  ...WATCHED,
  ...QUESTIONS,
  ...MCP,
  ...EVENTS,
  ...CALLER_METHODS,
  ...CALLER_FILES,
  ...methods('/api/methods'),
  ...methods('/api/workflows'),
  ...cliMethods('/api/cli/methods'),
  ...cliMethods('/api/cli/workflows'),
  ...CLI_RUNS,
  ...UPLOADS,
  ...ENDPOINTS,
  ...ACCOUNT,
};
