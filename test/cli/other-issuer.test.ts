import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TestIssuer } from '../harness/test-issuer.ts';
import { type CliGateway, commonRegistryGateway } from './cli-gateway.ts';
import { Desk } from './desk.ts';

const HOUR_MS = 3_600_000;

describe('a command line and an issuer of another make', () => {
  let issuer: TestIssuer;
  let gateway: CliGateway;

  before(async () => {
    issuer = await TestIssuer.started();
    issuer.person = {
      org_id: undefined,
      org_name: undefined,
      tenant: 't-1',
      tenant_name: 'Acme Works',
      level: 'member',
    };
    gateway = await commonRegistryGateway({
      issuer: issuer.url,
      orgClaim: 'tenant',
      orgNameClaim: 'tenant_name',
      roleClaim: 'level',
    });
  });
  after(async () => {
    await gateway?.stop();
    await issuer?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    issuer.expiresS = 3_600;
    issuer.alg = 'ES256';
    issuer.away = false;
    issuer.withheld.clear();
    issuer.forge = (claims) => claims;
  });

  /** This issuer asks no one. */
  const visit = async (address: string) => {
    const { headers } = await fetch(address, { redirect: 'manual' });
    return new URL(headers.get('location') ?? '');
  };
  const signedIn = async () => {
    const desk = await Desk.make();
    const { code, stderr } = await desk.signIn(gateway.url, visit);
    assert.equal(code, 0, stderr);
    return desk;
  };

  for (const alg of ['RS256', 'ES256'] as const) {
    test(`sign in with tokens of ${alg} and other names of claims`, async () => {
      issuer.alg = alg;
      const desk = await signedIn();
      const whoami = await desk.run(['whoami']);
      assert.equal(whoami.code, 0, whoami.stderr);
      assert.match(whoami.stdout, /^ada@acme\.example \(Ada\), member of Acme Works\n/);
      assert.ok(!whoami.stdout.includes('\u001b'), 'no colours where there is no terminal');
      await desk.remove();
    });
  }

  test('sign in a device, and say so where a person refused it', async () => {
    for (const allowed of [true, false]) {
      const desk = await Desk.make();
      const { shown, end } = desk.start(['--server', gateway.url, '--device'], /enter the code {2}(\S+)/);
      issuer.answerDevice(await shown, allowed);
      const { code, stderr } = await end;
      assert.equal(code, allowed ? 0 : 1, stderr);
      if (!allowed) assert.match(stderr, /error: the sign-in was refused/);
      assert.equal(desk.kept().length, allowed ? 1 : 0);
      await desk.remove();
    }
  });

  test('stop waiting for a person when they are interrupted', async () => {
    const desk = await Desk.make();
    for (const [args, says] of [
      [[], /^ {2}(http\S+)$/m],
      [['--device'], /enter the code {2}(\S+)/],
    ] as const) {
      const { shown, end, interrupt } = desk.start([...args, '--server', gateway.url], says);
      await shown;
      interrupt();
      const { code, stderr } = await end;
      assert.equal(code, 130, stderr);
      assert.doesNotMatch(stderr, /error|^ +at /m);
    }
    assert.deepEqual(desk.kept(), []);
    await desk.remove();
  });

  test('renew tokens that end, silently and each time with the newest', async () => {
    issuer.expiresS = 30;
    const desk = await signedIn();
    const secrets = [desk.theSignIn().accessToken, desk.theSignIn().refreshToken];
    for (let time = 0; time < 3; time++) {
      const { code, stderr } = await desk.run(['whoami']);
      assert.deepEqual([code, stderr], [0, '']);
      const { accessToken, refreshToken } = desk.theSignIn();
      assert.ok(!secrets.includes(refreshToken));
      secrets.push(accessToken, refreshToken);
    }
    assert.equal(issuer.refreshTokensUsedAgain, 0);
    desk.assertNeverSaid(secrets);
    await desk.remove();
  });

  test('renew once where many processes find an old token at once', async () => {
    issuer.expiresS = 30;
    const desk = await signedIn();
    issuer.expiresS = 3_600;
    const asked = issuer.count('/token');
    const ends = await Promise.all(Array.from({ length: 5 }, () => desk.run(['whoami'])));
    assert.deepEqual(
      ends.map(({ code, stderr }) => [code, stderr]),
      ends.map(() => [0, '']),
    );
    assert.equal(issuer.count('/token'), asked + 1);
    assert.equal(issuer.refreshTokensUsedAgain, 0);
    await desk.remove();
  });

  test('take over the lock of a process that was killed while it renewed', async () => {
    issuer.expiresS = 30;
    const desk = await signedIn();
    const [file] = desk.kept();
    // No process has this number: it is above what Linux gives.
    writeFileSync(`${file?.path}.lock`, `4194305 ${hostname()}`);
    const { code, stderr } = await desk.run(['whoami']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(desk.kept().length, 1);
    await desk.remove();
  });

  test('renew a token that the server takes no more before its time', async () => {
    const desk = await signedIn();
    const [file] = desk.kept();
    const kept = JSON.parse(readFileSync(file?.path ?? '', 'utf8'));
    const accessToken = await issuer.token({ aud: 'https://elsewhere.example' });
    writeFileSync(file?.path ?? '', JSON.stringify({ ...kept, accessToken, expiresAtMs: Date.now() + HOUR_MS }));
    const { code, stderr } = await desk.run(['whoami']);
    assert.deepEqual([code, stderr], [0, '']);
    await desk.remove();
  });

  test('keep using a valid token while the issuer is unavailable', async () => {
    issuer.expiresS = 50;
    const desk = await signedIn();
    issuer.away = true;
    const asked = issuer.asked.length;
    const { code, stderr } = await desk.run(['whoami']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(issuer.asked.length > asked, 'it tried');
    await desk.remove();
  });

  test('report that the issuer ended the sign-in, and forget it', async () => {
    issuer.expiresS = 30;
    const desk = await signedIn();
    for (const grant of issuer.grants) grant.over = true;
    const { code, stderr } = await desk.run(['whoami']);
    assert.equal(code, 1);
    assert.equal(stderr, `error: the sign-in is over\nhint: methods login --server ${gateway.url}\n`);
    assert.deepEqual(desk.kept(), []);
    await desk.remove();
  });

  test('revoke tokens on signing out, and delete them even if the issuer is unavailable or cannot revoke', async () => {
    const first = await signedIn();
    assert.equal((await first.run(['logout'])).code, 0);
    assert.equal(issuer.grants.at(-1)?.over, true);
    assert.equal((await first.run(['logout'])).stdout, 'Not signed in\n');
    await first.remove();

    const second = await signedIn();
    issuer.away = true;
    const away = await second.run(['logout', '--json']);
    assert.equal(away.code, 3);
    assert.deepEqual(JSON.parse(away.stdout), { server: gateway.url, signed_out: true, revoked: false });
    assert.deepEqual(second.kept(), []);
    issuer.away = false;
    await second.remove();

    const third = await signedIn();
    issuer.withheld.add('revocation_endpoint');
    const cannot = await third.run(['logout']);
    assert.equal(cannot.code, 3);
    assert.match(
      cannot.stderr,
      /^warning: forgotten here, but not revoked at the issuer: the issuer \S+ revokes nothing/,
    );
    await third.remove();
  });

  test('keep no sign-in of an id_token for another person, of another issuer or of another sign-in', async () => {
    for (const [forge, alg] of [
      [(claims: Record<string, unknown>) => ({ ...claims, aud: 'somebody-else' }), 'ES256'],
      [(claims: Record<string, unknown>) => ({ ...claims, nonce: 'another' }), 'ES256'],
      [(claims: Record<string, unknown>) => ({ ...claims, iss: 'https://elsewhere.example' }), 'RS256'],
    ] as const) {
      issuer.forge = forge;
      issuer.alg = alg;
      const desk = await Desk.make();
      const { code, stderr } = await desk.signIn(gateway.url, visit);
      assert.equal(code, 1);
      assert.match(stderr, /error: the issuer \S+ does not respond like an OpenID Connect issuer\nhint: /);
      assert.doesNotMatch(stderr, /^ +at /m);
      assert.deepEqual(desk.kept(), []);
      await desk.remove();
    }
  });

  test('keep no sign-in that the server refuses', async () => {
    const { person } = issuer;
    issuer.person = { org_id: undefined };
    const desk = await Desk.make();
    const { code, stdout, stderr } = await desk.signIn(gateway.url, visit);
    issuer.person = person;
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /\nerror: .+\n/);
    assert.deepEqual(desk.kept(), []);
    await desk.remove();
  });

  test('report in a sentence an issuer that is unavailable, invalid, or without device sign-in', async () => {
    const desk = await Desk.make();
    issuer.away = true;
    const away = await desk.run(['login', '--server', gateway.url]);
    assert.equal(away.code, 1);
    assert.match(
      away.stderr,
      /^error: the issuer at http:\/\/127\.0\.0\.1:\d+ cannot be reached: the connection broke\nhint: /,
    );
    issuer.away = false;
    issuer.withheld.add('issuer');
    const strange = await desk.run(['login', '--server', gateway.url, '--json']);
    assert.deepEqual([strange.code, JSON.parse(strange.stderr).error], [1, 'bad_issuer']);
    issuer.withheld.clear();
    issuer.withheld.add('device_authorization_endpoint');
    const device = await desk.run(['login', '--device', '--server', gateway.url]);
    assert.match(device.stderr, /^error: the issuer \S+ signs in no devices\nhint: sign in without --device/);
    await desk.remove();
  });
});
