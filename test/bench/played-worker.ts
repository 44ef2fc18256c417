// A worker without code: it takes runs over the worker's stream and reports at once that they have succeeded, so that what
// is measured is the service. Its clock is the system's, as are the pings of its connection.
import { type ProductionId, randomToken } from '@methods/base/ids';
import { type SchedulerItem, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';
import { giveBackItem, succeededItem } from '@methods/worker/step-message';

export interface Played {
  /** Of the run-scheduler's worker endpoint. */
  readonly address: string;
  readonly key: string;
  /** Production ids. */
  readonly methods: readonly string[];
  readonly slots: number;
  /** The result of every run. */
  readonly resultJson: string;
}

export interface PlayedWorker {
  close(): void;
}

/** Of a worker that gives every run back. */
export interface GivenBack {
  granted(): void;
  /** The service has the run again. */
  taken(): void;
}

export function playWorker(played: Played, onWelcome: () => void, givenBack?: GivenBack): PlayedWorker {
  const { address, key, methods, slots, resultJson } = played;
  let beat: NodeJS.Timeout | undefined;
  const received = ({ item }: SchedulerItem) => {
    if (item.case === 'welcome') {
      connection.send({ item: { case: 'credits', value: { count: slots } } });
      beat = setInterval(
        () => connection.send({ item: { case: 'heartbeat', value: { runs: [] } } }),
        item.value.heartbeatMs,
      );
      onWelcome();
    }
    if (item.case === 'ack') givenBack?.taken();
    if (item.case !== 'grant') return;
    if (givenBack !== undefined) {
      givenBack.granted();
      return void connection.send(giveBackItem(item.value, 1, 'it is only measured'));
    }
    connection.send(succeededItem(item.value, 1, resultJson));
    connection.send({ item: { case: 'credits', value: { count: 1 } } });
  };
  const connection = dialFrames(WorkerService.method.work, address, {
    metadata: { authorization: `Bearer ${key}` },
    onItems: (items) => {
      for (const item of items) received(item);
    },
    onFault: (error) => console.error(error),
    onClose: (error) => {
      clearInterval(beat);
      if (error !== null) console.error(`a played worker was left: ${error.message}`);
    },
  });
  // As the stack printed them.
  const served = methods as readonly ProductionId[];
  const value = { workerId: randomToken(), streamNumber: 1, methods: [...served], slots, features: [], held: [] };
  connection.send({ item: { case: 'hello', value: { ...value, sdk: 'bench' } } });
  return { close: () => connection.close() };
}
