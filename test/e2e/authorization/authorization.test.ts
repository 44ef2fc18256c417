// Every route of the running server with every kind of credential, on one's own object, another organization's and one
// that is not there: who is let in, what the others get, and that a refused request leaves no trace.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TestIssuer } from '../../harness/test-issuer.ts';
import { begunSignIn } from '../browser-session.ts';
import { RowWitness } from '../row-witness.ts';
import { type Stack, startStack } from '../stack.ts';
import { filesHolding } from '../stored-traces.ts';
import { type Answer, type Cell, CellRequests, cellsOf, nameOfCell } from './cells.ts';
import { allCredentials } from './credentials.ts';
import { EXAMPLES } from './examples.ts';
import { MISSING, ofAnotherKind, organization } from './organizations.ts';
import { ruleOf, type Verdict } from './rules.ts';
import { nameOf, type RunningRoute, runningRoutes } from './running-routes.ts';

const AT_ONCE = 12;

describe('who may do what', () => {
  let issuer: TestIssuer;
  let stack: Stack;
  let routes: readonly RunningRoute[];
  let cells: readonly Cell[];
  let requests: CellRequests;
  let witness: RowWitness;
  let theirIds: readonly string[];
  let ourIds: readonly string[];

  before(async () => {
    issuer = await TestIssuer.started();
    stack = await startStack('authorization', {
      // No worker: nothing changes by itself.
      args: ['--workers', '0'],
      env: { LOG_LEVEL: 'debug', OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: issuer.clientId, OIDC_ROLE_CLAIM: 'role' },
    });
    const [ours, theirs] = [await organization(stack, issuer, 'ours'), await organization(stack, issuer, 'theirs')];
    const objects = {
      ours: ours.objects,
      theirs: theirs.objects,
      missing: MISSING,
      'another kind': ofAnotherKind(ours.objects),
    };
    ourIds = Object.values(ours.objects);
    theirIds = Object.values(theirs.objects);
    routes = runningRoutes(stack);
    cells = cellsOf(routes, await allCredentials({ stack, issuer, ours, theirs }), objects);
    requests = new CellRequests(stack.ready.base_url, objects);
    // People and their organizations are made at first sight: before anything is watched.
    const firstSight = cells.filter(({ route }) => nameOf(route) === 'GET /api/methods');
    await each(firstSight, async (cell) => void (await requests.send(cell)));
    witness = await RowWitness.watch(stack.sql);
  });
  after(async () => {
    await stack?.stop();
    await issuer?.[Symbol.asyncDispose]();
  });

  const withVerdict = (...verdicts: Verdict[]) => cells.filter(({ verdict }) => verdicts.includes(verdict));

  test('every route has an example, and every example a route', () => {
    const [running, examples] = [routes.map(nameOf), Object.keys(EXAMPLES)];
    const without = running.filter((name) => !examples.includes(name));
    const unknown = examples.filter((name) => !running.includes(name));
    assert.deepEqual({ without, unknown }, { without: [], unknown: [] });
    assert.equal(new Set(running).size, running.length);
  });

  test('every route is where its rules are, and asks for the role that is due', () => {
    const told = routes.map((route) => [nameOf(route), route.surface, route.access]);
    const due = routes.map((route) => [nameOf(route), ruleOf(route).surface, ruleOf(route).access]);
    assert.deepEqual(told, due);
  });

  test('no caller without a good credential of the kind gets more than 401, and nothing changes', async () => {
    await refused('unauthorized', (cell, { status, headers, text }) => {
      assert.equal(status, 401);
      if (cell.route.method !== 'HEAD') assert.equal(text, '{"error":"unauthorized"}');
      assert.match(
        headers['www-authenticate'] ?? '',
        cell.route.surface === 'upload' ? /^WorkflowUpload$/ : /^Bearer\b/,
      );
    });
  });

  test('a caller with too low a role, or with a cookie from a foreign page, gets an error, and nothing changes', async () => {
    await refused('forbidden', (cell, { status, text }) => {
      assert.equal(status, 403);
      const reply = JSON.parse(text);
      const { error, message, ...rest } = cell.route.surface === 'mcp' ? reply.error.data : reply;
      assert.deepEqual([error, typeof message, rest], ['forbidden', 'string', { request_id: 'the-same' }]);
    });
  });

  test("what is another organization's is answered byte by byte like what is not there, and nothing changes", async () => {
    await refused('not found', async (cell, answer) => {
      assert.equal(answer.status, cell.row.absent ?? 404);
      if (answer.status === 404) assert.equal(JSON.parse(answer.text).error, 'not_found');
      // The id itself shows that it is of another kind.
      if (cell.whose === 'ours' || cell.whose === 'theirs')
        assert.deepEqual(answer, await requests.send(cell, 'missing'));
    });
  });

  test('a sign-in with an ID token that is forged leaves nothing but its end', async () => {
    const { base_url: baseUrl } = stack.ready;
    const nowS = Math.floor(Date.now() / 1_000);
    const forged = {
      'another nonce': { nonce: 'x'.repeat(43) },
      'no nonce': { nonce: undefined },
      'another client': { aud: 'another-client' },
      'another issuer': { iss: 'https://elsewhere.example' },
      'long over': { exp: nowS - 3_600 },
    };
    for (const [what, claims] of Object.entries(forged)) {
      issuer.person = { sub: 'forged', role: 'admin', org_id: 'ours' };
      issuer.forge = (usual) => ({ ...usual, ...claims });
      const { cookie, callback } = await begunSignIn(baseUrl);
      await witness.changes();
      const reply = await fetch(callback, { redirect: 'manual', headers: { cookie } });
      assert.equal(reply.status, 400, what);
      const changes = await witness.changes();
      assert.ok(changes.length === 1 && changes[0]?.startsWith('DELETE registry.sign_ins'), `${what}: ${changes}`);
    }
    issuer.forge = (usual) => usual;
  });

  test('a public route answers every credential as it answers none', async () => {
    const expected = new Map<RunningRoute, number>();
    const open = withVerdict('as anybody');
    for (const cell of open.filter(({ credential }) => credential.name === 'nothing')) {
      const { status } = await requests.send(cell);
      assert.ok(status !== 401 && status < 500, `${nameOfCell(cell)}: ${status}`);
      expected.set(cell.route, status);
    }
    await all(open, async (cell) => {
      assert.equal((await requests.send(cell)).status, expected.get(cell.route));
    });
  });

  test('every other caller gets what is asked for, and nothing of another organization in it', async (t) => {
    // The access of a person ends, and with it that of their uploads, or an endpoint is gone: last.
    const isLast = ({ route }: Cell) => route.method === 'DELETE' && /^\/api\/(members|endpoints)\//.test(route.url);
    const allowed = withVerdict('allowed');
    const check = async (cell: Cell) => {
      const { status, text } = await requests.send(cell);
      assert.ok(status < 400 || status === 409 || status === cell.row.present, `${status} ${text.slice(0, 300)}`);
      const foreign = cell.credential.organization === 'ours' ? theirIds : ourIds;
      assert.deepEqual(
        foreign.filter((id) => text.includes(id)),
        [],
      );
    };
    await all(
      allowed.filter((cell) => !isLast(cell)),
      check,
    );
    await all(allowed.filter(isLast), check);
    assert.ok((await witness.changes()).length > 0, 'the witness sees changes');
    t.diagnostic(`${cells.length} cells of ${routes.length} routes`);
  });

  test('every refusal is in the log with its reason, and no credential is', () => {
    const { data_dir: folder } = stack.ready;
    const refusals = stack
      .log('gateway-1')
      .split('\n')
      .filter((line) => /"msg":"request"/.test(line) && /"status":40[13]\b/.test(line));
    assert.ok(refusals.length > 1_000, `${refusals.length} refusals`);
    assert.deepEqual(
      refusals.filter((line) => !/"refusal":"[a-z_]+"/.test(line)),
      [],
    );
    const shown = new Set(cells.flatMap(({ credential }) => Object.values(credential.headers(false))));
    const secrets = [...shown].map((header) => header.replace(/^.*[ =]/, '')).filter((secret) => secret.length > 20);
    assert.ok(secrets.length > 25);
    assert.deepEqual(
      filesHolding(folder, secrets, (path) => path.endsWith('/log')),
      [],
    );
  });

  /** All cells of the verdict, a route at a time. */
  async function refused(verdict: Verdict, check: (cell: Cell, answer: Answer) => void | Promise<void>): Promise<void> {
    const faults: string[] = [];
    for (const route of routes) {
      const due = withVerdict(verdict).filter((cell) => cell.route === route);
      faults.push(...(await faultsOf(due, async (cell) => check(cell, await requests.send(cell)))));
      faults.push(...(await witness.changes()).map((change) => `${nameOf(route)} made ${change}`));
    }
    assert.deepEqual(faults, []);
  }
});

async function all(cells: readonly Cell[], check: (cell: Cell) => Promise<void>): Promise<void> {
  assert.deepEqual(await faultsOf(cells, check), []);
}

/** What is wrong, one line a cell. */
async function faultsOf(cells: readonly Cell[], check: (cell: Cell) => Promise<void>): Promise<string[]> {
  const faults: string[] = [];
  await each(cells, async (cell) => {
    try {
      await check(cell);
    } catch (error) {
      faults.push(
        `${nameOfCell(cell)}: ${String((error as Error).message)
          .replaceAll(/\s+/g, ' ')
          .slice(0, 300)}`,
      );
    }
  });
  return faults;
}

async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const hands = Array.from({ length: AT_ONCE }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  await Promise.all(hands);
}
