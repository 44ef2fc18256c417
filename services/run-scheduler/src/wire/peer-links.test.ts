import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { type PeerItem, PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { until } from '@methods/test/harness/until';
import { type PeerDirectory, type PeerItemInit, PeerLinks } from './peer-links.ts';

const lostGrant = (runId: RunId): PeerItemInit => ({ item: { case: 'grantLost', value: { runId, token: '' } } });
const runIdOf = ({ item }: PeerItem) => (item.case === 'grantLost' ? item.value.runId : null);
const unavailable = (error: unknown) => error instanceof ServiceError && error.code === 'unavailable';

type Member = ReturnType<PeerDirectory['members']>[number];

/** A membership without beats: its members are those that a test adds. */
class Directory implements PeerDirectory {
  readonly suspected: { nodeId: string; why: string }[] = [];
  private list: { nodeId: string; peerAddress: string }[] = [];
  private readonly listeners = new Set<() => void>();

  members() {
    return this.list;
  }
  onChange(listener: () => void) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  suspectNow(nodeId: string, why: string) {
    this.suspected.push({ nodeId, why });
    this.set(this.list.filter((member) => member.nodeId !== nodeId));
  }
  set(list: { nodeId: string; peerAddress: string }[]) {
    this.list = list;
    for (const listener of this.listeners) listener();
  }
}

class Peer {
  readonly directory = new Directory();
  readonly received: string[] = [];
  readonly events: string[] = [];
  readonly links: PeerLinks;
  server: RpcServer;
  private readonly address = () => `127.0.0.1:${this.server.port}`;

  constructor(
    readonly nodeId: string,
    pendingMax = 100,
  ) {
    const { address: peerAddress, directory: membership } = this;
    this.links = new PeerLinks({
      nodeId,
      peerAddress,
      membership,
      clock: systemClock,
      logger: silentLogger,
      pendingMax,
    });
    this.server = this.newServer(0);
    this.links.onItem((_, item, reply) => {
      const runId = runIdOf(item);
      this.received.push(runId ?? `${item.item.case}`);
      if (runId !== null && runId !== 'run_unanswered') reply(lostGrant(`run_re_${runId}`));
    });
    this.links.onConnected((peer) => this.events.push(`up ${peer}`));
    this.links.onDown((peer) => this.events.push(`down ${peer}`));
  }

  get member() {
    return { nodeId: this.nodeId, peerAddress: this.address() };
  }

  async start(): Promise<this> {
    await this.server.start();
    this.links.start();
    return this;
  }

  async restartServer(): Promise<void> {
    const { port } = this.server;
    await this.server.stop();
    this.server = this.newServer(port);
    await this.server.start();
  }

  async stop(): Promise<void> {
    const stopped = this.server.stop();
    this.links.stop();
    await stopped;
  }

  private newServer(port: number): RpcServer {
    const services = [served(PeerService, this.links.serve)];
    return new RpcServer({ listen: `127.0.0.1:${port}`, services, logger: silentLogger, graceMs: 0 });
  }
}

describe('peer links', () => {
  let peers: Peer[] = [];
  afterEach(async () => {
    await Promise.all(peers.map((peer) => peer.stop()));
    peers = [];
  });
  const open = (...made: Peer[]) => {
    peers.push(...made);
    return Promise.all(made.map((peer) => peer.start()));
  };
  const meet = (...some: Peer[]) => {
    for (const peer of some) peer.directory.set(some.map(({ member }) => member));
  };
  const linked = (...some: Peer[]) =>
    until('all are linked', () => some.every(({ links }) => links.connected().length === some.length - 1));
  async function pair(pendingMax?: number): Promise<[Peer, Peer]> {
    const a = new Peer('a', pendingMax);
    const b = new Peer('b', pendingMax);
    await open(a, b);
    meet(a, b);
    await linked(a, b);
    return [a, b];
  }

  test('nodes that know each other have one link a pair and send both ways in order', async () => {
    const [a, b, c] = (await open(new Peer('a'), new Peer('b'), new Peer('c'))) as [Peer, Peer, Peer];
    meet(a, b, c);
    await linked(a, b, c);
    for (let i = 0; i < 500; i++) {
      assert.equal(a.links.send('b', lostGrant(`run_${i}`)), true);
      assert.equal(b.links.send('a', lostGrant(`run_${i}`)), true);
    }
    const all = Array.from({ length: 500 }, (_, i) => `run_${i}`);
    await until('everything has arrived', () => a.received.length === 500 && b.received.length === 500);
    assert.deepEqual([a.received, b.received, c.received], [all, all, []]);
    assert.deepEqual(a.events.sort(), ['up b', 'up c']);
    assert.equal(a.links.send('nobody', lostGrant('run_x')), false);
  });

  test('requests of both sides at once each get their own reply', async () => {
    const [a, b] = await pair();
    const ask = async (from: Peer, to: string, name: RunId) =>
      runIdOf(await from.links.request(to, lostGrant(name), 5_000));
    const names = Array.from({ length: 50 }, (_, i) => `${i}`);
    const replies = await Promise.all(
      names.flatMap((name) => [ask(a, 'b', `run_a${name}`), ask(b, 'a', `run_b${name}`)]),
    );
    assert.deepEqual(
      replies,
      names.flatMap((name) => [`run_re_run_a${name}`, `run_re_run_b${name}`]),
    );
  });

  test('a request without reply, without link or beyond the bound is refused as unavailable', async () => {
    const [a] = await pair(2);
    await assert.rejects(a.links.request('b', lostGrant('run_unanswered'), 50), unavailable);
    await assert.rejects(a.links.request('nobody', lostGrant('run_x'), 50), unavailable);
    const unanswered = () => assert.rejects(a.links.request('b', lostGrant('run_unanswered'), 300), unavailable);
    const waiting = [unanswered(), unanswered()];
    await assert.rejects(a.links.request('b', lostGrant('run_x'), 5_000), unavailable);
    await Promise.all(waiting);
  });

  test('when a peer dies both kinds of neighbours notice at once', async () => {
    const [a, b, c] = (await open(new Peer('a'), new Peer('b'), new Peer('c'))) as [Peer, Peer, Peer];
    meet(a, b, c);
    await linked(a, b, c);
    const pending = a.links.request('b', lostGrant('run_unanswered'), 60_000);
    const startedAtMs = performance.now();
    void b.stop();
    await assert.rejects(pending, unavailable);
    assert.ok(performance.now() - startedAtMs < 30_000, 'the request was not waited for');
    await until('both suspect it', () => a.directory.suspected.length > 0 && c.directory.suspected.length > 0);
    assert.deepEqual(a.directory.suspected, [{ nodeId: 'b', why: 'connection refused' }]);
    assert.deepEqual(c.directory.suspected, a.directory.suspected);
    assert.deepEqual([a.events.at(-1), c.events.at(-1)], ['down b', 'down b']);
  });

  test('a peer that never listened is suspected once, even by the side that it would have dialled', async () => {
    const [a, c] = (await open(new Peer('a'), new Peer('c'))) as [Peer, Peer];
    const gone = (await Promise.all(['b1', 'b2'].map((id) => new Peer(id).start()))).map((peer) => {
      const { member } = peer;
      return peer.stop().then(() => member);
    });
    const [first, second] = (await Promise.all(gone)) as [Member, Member];
    for (const { directory } of [a, c]) {
      const suspected = () => directory.suspected.map(({ nodeId }) => nodeId);
      directory.set([first]);
      await until('it is suspected', () => suspected().includes('b1'));
      // It still beats, so something else refuses: it is not dead. It is tried again before the second one.
      directory.set([first]);
      directory.set([first, second]);
      await until('the second is suspected', () => suspected().includes('b2'));
      assert.deepEqual(suspected(), ['b1', 'b2']);
    }
  });

  test('another process at a dead peer’s address is not mistaken for it', async () => {
    const [a, b] = (await open(new Peer('a'), new Peer('b2'))) as [Peer, Peer];
    a.directory.set([{ ...b.member, nodeId: 'b1' }]);
    await until('the old one is suspected', () => a.directory.suspected.length === 1);
    assert.equal(a.directory.suspected[0]?.nodeId, 'b1');
    assert.deepEqual(a.links.connected(), []);
    meet(a, b);
    await linked(a, b);
  });

  test('a broken link is opened again', async () => {
    const [a, b] = await pair();
    await a.restartServer();
    await b.restartServer();
    await until('b was down and is up', () => {
      // Both beat again, also after a refusal that is noticed late.
      if ([a, b].some(({ directory }) => directory.members().length < 2)) meet(a, b);
      return a.events.includes('down b') && a.events.at(-1) === 'up b';
    });
    await linked(a, b);
    assert.equal(runIdOf(await b.links.request('a', lostGrant('run_again'), 5_000)), 'run_re_run_again');
  });

  test('a failing listener affects neither the link nor the other listeners', async () => {
    const [a, b] = await pair();
    b.links.onItem(() => {
      throw new Error('a fault of this listener');
    });
    a.links.send('b', lostGrant('run_one'));
    a.links.send('b', lostGrant('run_two'));
    await until('both have arrived', () => b.received.length === 2);
    assert.deepEqual(b.links.connected(), ['a']);
  });

  test('an item that no message can carry fails its own call; the link and the calls beside it continue', async () => {
    const [a, b] = [new Peer('node_a'), new Peer('node_b')];
    await open(a, b);
    meet(a, b);
    await until('they are linked', () => a.links.connected().length === 1 && b.links.connected().length === 1);
    const huge = `run_${'x'.repeat(5 * 1024 * 1024)}` as const;
    b.links.onItem((_from, item, reply) => {
      if (item.item.case !== 'command') return;
      const view = { runId: 'run_1' as const, resultJson: huge };
      reply({ item: { case: 'commandReply', value: { commandId: '1', outcome: { case: 'run', value: view } } } });
    });
    const command: PeerItemInit = { item: { case: 'command', value: { commandId: '1', orgId: 'org_a' as const } } };
    const [lost, refused, beside] = await Promise.allSettled([
      a.links.request('node_b', lostGrant(huge), 5_000),
      a.links.request('node_b', command, 5_000),
      a.links.request('node_b', lostGrant('run_small'), 5_000),
    ]);
    assert.equal(lost.status === 'rejected' && lost.reason.code, 'too_large');
    const outcome =
      refused.status === 'fulfilled' && refused.value.item.case === 'commandReply' && refused.value.item.value.outcome;
    assert.equal(outcome && outcome.case === 'error' && outcome.value.code, 'too_large');
    assert.equal(beside.status === 'fulfilled' && runIdOf(beside.value), 'run_re_run_small');
    assert.deepEqual([a.events, b.events], [['up node_b'], ['up node_a']]);
  });
});
