// A worker without code and without a content key: it names keys, keeps what it is granted, and reports what a test says.
import type { KeyId, ProductionId } from '@methods/base/ids';
import { randomToken } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import type { WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import {
  type Grant,
  type SchedulerItem,
  type Welcome,
  WorkerService,
} from '@methods/proto/worker/v1/worker_service_pb';
import { dialFrames, type SentItem } from '@methods/rpc/frame-stream';
import { until } from '../harness/until.ts';

type Item = NonNullable<SentItem<typeof WorkRequestSchema>['item']>;

interface NamedKey {
  readonly keyId: KeyId;
  /** Hex. */
  readonly fingerprint: string;
}

export class DeviceWorker {
  readonly grants: Grant[] = [];
  readonly acked: number[] = [];
  readonly refused: string[] = [];
  welcome: Welcome | null = null;
  closed: ServiceError | 'closed' | null = null;
  private readonly connection: ReturnType<typeof dialFrames<typeof WorkRequestSchema, never>>;

  constructor(address: string, key: string, methods: readonly string[], keys: readonly NamedKey[]) {
    this.connection = dialFrames(WorkerService.method.work, address, {
      metadata: { authorization: `Bearer ${key}` },
      onItems: (items) => {
        for (const item of items) this.received(item);
      },
      onFault: () => {},
      onClose: (error) => {
        this.closed = error ?? 'closed';
      },
    }) as never;
    const place = { workerId: randomToken(), streamNumber: 1, slots: 1, features: [], held: [] };
    const deviceKeyIds = keys.map(({ keyId }) => keyId);
    const deviceKeyFingerprints = keys.map(({ fingerprint }) => Buffer.from(fingerprint, 'hex'));
    const named = { methods: methods as ProductionId[], deviceKeyIds, deviceKeyFingerprints };
    this.send({ case: 'hello', value: { ...place, ...named } });
  }

  send(item: Item): void {
    this.connection.send({ item });
  }

  /** Reports on the newest grant. */
  report(kind: 'ask' | 'finish' | 'stepRecord' | 'giveBack', seq: number, value: object): void {
    const { runId = 'run_none', token = '' } = this.grants.at(-1) ?? {};
    this.send({ case: kind, value: { runId, token, seq, ...value } } as Item);
  }

  granted(count: number): Promise<Grant> {
    return until(`the worker has ${count} grants`, () => {
      if (this.grants.length >= count) return this.grants[count - 1];
      // It does not connect again.
      if (this.closed !== null) throw new Error('the worker is disconnected', { cause: this.closed });
      return null;
    }) as never;
  }

  close(): void {
    this.connection.close();
  }

  private received({ item }: SchedulerItem): void {
    if (item.case === 'welcome') {
      this.welcome = item.value;
      this.send({ case: 'credits', value: { count: 10 } });
    } else if (item.case === 'grant') {
      this.grants.push(item.value);
      this.send({ case: 'credits', value: { count: 1 } });
    } else if (item.case === 'ack') this.acked.push(item.value.seq);
    else if (item.case === 'refused') this.refused.push(item.value.code);
  }
}
