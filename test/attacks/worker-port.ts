// What an attacker does at the port of workers.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:http2';
import { newId } from '@methods/base/ids';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';
import type { AttackEnd, AttackTarget } from './attack.ts';

/** A gRPC call whose message says it is gzip and is noise; resolves with how the server ended it. */
export function junkCall(address: string, bytes: Buffer, attackEnd: AttackEnd): Promise<string> {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const end = (word: string) => {
      forget();
      session.destroy();
      resolve(word);
    };
    const forget = attackEnd.at(() => end('stopped'));
    session.on('error', () => end('connection refused'));
    const call = session.request({
      ':method': 'POST',
      ':path': '/methods.worker.v1.WorkerService/GetVersion',
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      te: 'trailers',
    });
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeUInt32BE(bytes.length, 1);
    call.on('error', () => end('stream refused'));
    call.on('response', (headers) => end(`grpc-status ${headers['grpc-status']}`));
    call.end(Buffer.concat([head, bytes]));
  });
}

/** One hello with as many methods as a worker may name; resolves when the server hangs up or has welcomed it. */
export function redial(target: AttackTarget, attackEnd: AttackEnd): Promise<string> {
  return new Promise((resolve) => {
    const end = (word: string) => {
      forget();
      connection.close();
      resolve(word);
    };
    const forget = attackEnd.at(() => end('stopped'));
    const connection = dialFrames(WorkerService.method.work, target.workerAddress, {
      metadata: { authorization: `Bearer ${target.key}` },
      onItems: () => end('welcomed'),
      onClose: () => end('closed'),
    });
    const methods = Array.from({ length: 1_000 }, () => `wf_${newId('org').slice(4)}` as const);
    connection.send({
      item: {
        case: 'hello',
        value: {
          workerId: randomUUID().replaceAll('-', ''),
          streamNumber: 1,
          methods,
          slots: 10,
          features: [],
          sdk: 'attack',
          held: [],
        },
      },
    });
  });
}
