// Real client libraries against the whole stack: from a refused request through discovery, registration and sign-in to
// tools, without anything set by hand.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ended, METHODS } from '@methods/cli/cli.fixture';
import { McpAgent } from '@methods/gateway/testing/mcp-agent.fixture';
import { signIn as browserSignIn } from '@methods/local-stack/identity/testing/running-provider.fixture';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { Desk } from '../../cli/desk.ts';
import type { Stack } from '../stack.ts';
import { clientDocuments, commonStack } from '../two-gateways.ts';
import { AgentSignIn } from './agent-sign-in.ts';

const PERSON = { email: 'ada@agents.example', organization: 'Local', role: 'admin' } as const;
const CONFORMANCE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
/** Those that need no fixtures of their own and no capability that this server does not offer. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

describe('agents', () => {
  let stack: Stack;
  let url: URL;
  before(async () => {
    stack = await commonStack();
    url = new URL(stack.ready.mcp_url);
  });

  function transportOf(signIn: AgentSignIn) {
    return new StreamableHTTPClientTransport(url, { authProvider: signIn as never });
  }

  function clientOf(capabilities: object = {}) {
    const info = { name: 'v2-agent', version: '2.0' };
    return new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } } as never);
  }

  /** A client of this person, after the whole walk. */
  async function connected(signIn: AgentSignIn, client = clientOf()): Promise<Client> {
    const first = transportOf(signIn);
    await assert.rejects(client.connect(first), UnauthorizedError);
    await first.finishAuth((await signIn.visit()).searchParams as never);
    const again = clientOf();
    await again.connect(transportOf(signIn));
    return again;
  }

  test('a client walks from a 401 to a token for this resource, refreshes it and calls tools', async () => {
    const signIn = new AgentSignIn(PERSON);
    const client = await connected(signIn);
    const { searchParams } = signIn.authorizeUrl as URL;
    assert.deepEqual([searchParams.get('resource'), searchParams.get('code_challenge_method')], [url.href, 'S256']);
    assert.ok(signIn.registered?.client_id, 'it registered itself');
    assert.equal(decodeJwt(signIn.tokens_?.access_token ?? '').aud, url.href);
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    assert.equal(client.getServerVersion()?.version, '5.2');
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'start_run'));

    const earlier = signIn.tokens_;
    assert.ok(earlier?.refresh_token);
    signIn.tokens_ = { ...earlier, access_token: 'expired' };
    const listed = await client.callTool({ name: 'list_methods', arguments: {} });
    assert.ok(((listed.structuredContent as { methods: unknown[] }).methods ?? []).length > 0);
    assert.notEqual(signIn.tokens_?.access_token, 'expired');
    assert.notEqual(signIn.tokens_?.refresh_token, earlier.refresh_token, 'refresh tokens are rotated');
    await client.close();
  });

  test('a client that is an https document walks to a token without a registration, and refreshes it', async () => {
    const signIn = new AgentSignIn(PERSON, clientDocuments().clientUrl('agent'));
    const client = await connected(signIn);
    assert.equal(clientDocuments().reads('agent'), 1);
    assert.equal(signIn.authorizeUrl?.searchParams.get('client_id'), clientDocuments().clientUrl('agent'));
    const { aud, client_id } = decodeJwt(signIn.tokens_?.access_token ?? '');
    assert.deepEqual([aud, client_id], [url.href, clientDocuments().clientUrl('agent')]);
    assert.ok(signIn.tokens_?.refresh_token);
    signIn.tokens_ = { ...signIn.tokens_, access_token: 'expired' };
    const { isError = false } = await client.callTool({ name: 'list_methods', arguments: {} });
    assert.deepEqual([isError, signIn.tokens_?.access_token === 'expired'], [false, false]);
    await client.close();

    const earlier = new AgentSignIn(PERSON, clientDocuments().clientUrl('earlier'));
    const transport = new EarlierTransport(url, { authProvider: earlier as never });
    await assert.rejects(new EarlierClient({ name: 'v1', version: '1' }).connect(transport as never), /Unauthorized/);
    await transport.finishAuth((await earlier.visit()).searchParams.get('code') ?? '');
    assert.equal(decodeJwt(earlier.tokens_?.access_token ?? '').client_id, clientDocuments().clientUrl('earlier'));

    const foreign = new AgentSignIn(
      PERSON,
      clientDocuments().clientUrl('foreign', { client_id: 'https://other.example/c' }),
    );
    await assert.rejects(clientOf().connect(transportOf(foreign)), UnauthorizedError);
    const refused = await fetch(foreign.authorizeUrl ?? assert.fail('it is sent to the issuer'));
    assert.equal(refused.status, 400, 'a document that names another client');
  });

  test('two tabs of one client sign the same person in at once, and each refreshes its own token', async () => {
    const tabs = [1, 2].map(() => new AgentSignIn(PERSON, clientDocuments().clientUrl('tabs')));
    const clients = await Promise.all(tabs.map((tab) => connected(tab)));
    for (const tab of tabs) tab.tokens_ = { ...(tab.tokens_ ?? assert.fail()), access_token: 'expired' };
    const listed = await Promise.all(clients.map((client) => client.callTool({ name: 'list_methods', arguments: {} })));
    for (const { isError = false } of listed) assert.equal(isError, false);
    const [one, other] = tabs.map(({ tokens_ }) => tokens_?.refresh_token);
    assert.notEqual(one, other);
    await Promise.all(clients.map((client) => client.close()));
  });

  test('a question that names others is not answered by this person, not even through their client', async () => {
    const signIn = new AgentSignIn(PERSON);
    await (await connected(signIn)).close();
    const token = signIn.tokens_?.access_token ?? '';
    const agent = new McpAgent({ url: url.href, token, capabilities: { elicitation: {} } });
    const start = { method_id: stack.method('agree'), inputs: { amount: 5 } };
    const { data: started } = await agent.done('start_run', start);
    const { data: run } = await agent.done('get_run', { run_id: started.run_id, wait_ms: 30_000 });
    const args = { run_id: run.run_id, question_id: run.question.id, answer: { decision: 'approve' } };
    const { result } = await agent.call('answer_run', args);
    assert.equal(result.resultType, 'input_required', JSON.stringify(result));
    const answer = { action: 'accept', content: { decision: 'approve' } };
    const { requestState } = result;
    const refused = await agent.call('answer_run', args, { requestState, inputResponses: { answer } });
    assert.deepEqual([refused.isError, refused.data.error], [true, 'not_an_answerer'], refused.text);
    assert.equal((await agent.done('get_run', { run_id: run.run_id })).data.status, 'waiting');
    await agent.done('cancel_run', { run_id: run.run_id });
  });

  test('what a user is asked at one gateway counts at another', async () => {
    const signIn = new AgentSignIn(PERSON);
    await (await connected(signIn)).close();
    const token = signIn.tokens_?.access_token ?? '';
    const [one, other] = stack.gateways.map(
      (base) => new McpAgent({ url: `${base}/mcp`, token, capabilities: { elicitation: {} } }),
    );
    assert.ok(one && other);
    const args = {
      method_id: stack.method('approve'),
      inputs: { order_id: 'ord_8', amount: 250 },
      idempotency_key: randomUUID(),
      wait_ms: 30_000,
    };
    const { result } = await one.call('start_run', args);
    assert.equal(result.resultType, 'input_required', JSON.stringify(result));
    const answer = { action: 'accept', content: { decision: 'approve' } };
    const { requestState } = result;
    const { data } = await other.done('start_run', args, { requestState, inputResponses: { answer } });
    assert.equal(data.status, 'succeeded', JSON.stringify(data));
    const forged = await other.request('tools/call', {
      ...{ name: 'start_run', arguments: args, inputResponses: { answer } },
      // A character in the middle of the signature: some bits of the last one are not read.
      requestState: requestState.replace(/.(?=.{20}$)/, (old: string) => (old === 'A' ? 'B' : 'A')),
    });
    assert.ok(forged.last.error, JSON.stringify(forged.last));
    for (const gateway of ['gateway-1', 'gateway-2']) assert.ok(!stack.log(gateway).includes('MCP_STATE_KEY'), gateway);
  });

  test('the bridge refreshes its sign-in at the issuer', async () => {
    const desk = await Desk.make();
    try {
      const { email, organization, role } = PERSON;
      const login = await desk.signIn(
        stack.ready.base_url,
        (address) => browserSignIn(address, { email, organization, role }),
        [],
        ['mcp', 'login'],
      );
      assert.equal(login.code, 0, login.stderr);
      const [kept] = desk.kept();
      assert.ok(kept);
      for (const over of [{ accessToken: 'expired' }, { expiresAtMs: 0 }]) {
        const before = { ...desk.theSignIn(), ...over };
        await writeFile(kept.path, JSON.stringify(before));
        const bridge = spawn(process.execPath, [METHODS, 'mcp', 'bridge', '--server', stack.ready.base_url], {
          cwd: desk.folder.dir,
          env: { HOME: desk.folder.dir, ...desk.env },
        });
        const list = { name: 'list_methods', arguments: {} };
        const messages = [1, 2].map((id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: list }));
        bridge.stdin.end(`${messages.join('\n')}\n`);
        const { code, stdout, stderr } = await ended(bridge);
        assert.equal(code, 0, stderr);
        const replies = stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        for (const { result } of replies) assert.ok(result?.structuredContent.methods.length > 0, `${stdout}${stderr}`);
        assert.equal(replies.length, 2);
        assert.notEqual(desk.theSignIn().refreshToken, before.refreshToken, 'refresh tokens are rotated');
      }
    } finally {
      await desk.remove();
    }
  });

  test('a run is started, waited for, answered and recorded with the client', async () => {
    const signIn = new AgentSignIn(PERSON);
    const client = await connected(signIn);
    const call = async (name: string, args: object) => {
      const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
      assert.notEqual(result.isError, true, JSON.stringify(result.content));
      // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
      return result.structuredContent as any;
    };
    const started = await call('start_run', {
      method_id: stack.method('approve'),
      inputs: { order_id: 'ord_7', amount: 250 },
      idempotency_key: randomUUID(),
      wait_ms: 30_000,
    });
    assert.equal(started.status, 'waiting', JSON.stringify(started));
    const questionId = started.question.id;
    const open = await call('list_questions', { unassigned: true, mine: false, method: stack.method('approve') });
    assert.ok(open.questions.some(({ id }: { id: string }) => id === questionId));
    await call('answer_run', { run_id: started.run_id, question_id: questionId, answer: { decision: 'approve' } });
    const done = await call('get_run', { run_id: started.run_id, wait_ms: 30_000, after_question: questionId });
    assert.equal(done.status, 'succeeded', JSON.stringify(done));
    const [receipt] = done.answers;
    assert.deepEqual([receipt.channel, receipt.by.email, receipt.by.client], ['mcp', PERSON.email, 'v2-agent 2.0']);

    const audit = await fetch(`${stack.ready.base_url}/api/audit?target=${started.run_id}`, {
      headers: { authorization: `Bearer ${signIn.tokens_?.access_token}` },
    });
    const { items } = (await audit.json()) as { items: { action: string; client?: string }[] };
    const acts = items.filter(({ client: name }) => name === 'v2-agent 2.0').map(({ action }) => action);
    for (const action of ['run.start', 'run.answer', 'run.read'])
      assert.ok(acts.includes(action), `${action}: ${acts}`);
    await client.close();
  });

  test('two clients and two organizations see their own', async () => {
    const [one, other] = await Promise.all([
      connected(new AgentSignIn(PERSON)),
      connected(new AgentSignIn({ ...PERSON, email: 'eve@other.example', organization: 'Another' })),
    ]);
    const methodsOf = async (client: Client) =>
      ((await client.callTool({ name: 'list_methods', arguments: {} })).structuredContent as { methods: object[] })
        .methods;
    const [ours, theirs] = await Promise.all([methodsOf(one), methodsOf(other)]);
    assert.ok(ours.length > 0);
    assert.deepEqual(theirs, []);
    const { resources } = await one.listResources();
    const uri = resources[0]?.uri ?? '';
    assert.match(
      (await one.readResource({ uri })).contents.map((part) => ('text' in part ? part.text : '')).join(''),
      /format: /,
    );
    await assert.rejects(other.readResource({ uri }));
    await Promise.all([one.close(), other.close()]);
  });

  test('a client of the earlier protocol and code line does the same', async () => {
    const signIn = new AgentSignIn(PERSON);
    const info = { name: 'v1-agent', version: '1.0' };
    const first = new EarlierTransport(url, { authProvider: signIn as never });
    await assert.rejects(new EarlierClient(info).connect(first as never), /Unauthorized/);
    await first.finishAuth((await signIn.visit()).searchParams.get('code') ?? '');
    const client = new EarlierClient(info);
    await client.connect(new EarlierTransport(url, { authProvider: signIn as never }) as never);
    assert.equal(client.getServerVersion()?.version, '5.2');
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'list_workflows'));
    const { methods } = (await client.callTool({ name: 'list_methods', arguments: {} })).structuredContent as {
      methods: { id: string }[];
    };
    assert.ok(methods.length > 0);
    for (const [name, args] of Object.entries({
      get_method: { method_id: 'wf_none' },
      list_runs: { method: 'greet' },
    })) {
      const refused = await client.callTool({ name, arguments: args });
      assert.deepEqual([refused.isError, (refused.structuredContent as { error: string }).error], [true, 'not_found']);
    }
    await client.close();
  });

  test('the public conformance scenarios pass', async () => {
    const signIn = new AgentSignIn(PERSON);
    await (await connected(signIn)).close();
    // The tool sends no token, so a proxy adds it, and puts the server's port in place of its own.
    const proxy = createServer((incoming, outgoing) => {
      const { method, url: path, socket, headers: sent } = incoming;
      const there = (text = '') => text.replace(`:${socket.localPort}`, `:${url.port}`);
      const headers = {
        ...sent,
        host: there(sent.host),
        ...(sent.origin !== undefined && { origin: there(sent.origin) }),
        authorization: `Bearer ${signIn.tokens_?.access_token}`,
      };
      const passed = forward({ host: url.hostname, port: url.port, path, method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(outgoing);
      });
      incoming.pipe(passed);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      for (const scenario of SCENARIOS) {
        const args = [CONFORMANCE, 'server', '--url', `http://127.0.0.1:${port}/mcp`, '--scenario', scenario];
        await assert.doesNotReject(
          promisify(execFile)(process.execPath, args, { cwd: stack.ready.data_dir }),
          scenario,
        );
      }
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});
