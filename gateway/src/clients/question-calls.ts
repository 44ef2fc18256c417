// Calls to the run-schedulers about questions. Any node serves them and each may be repeated, so a call that one node
// does not answer goes to the next.
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { QuestionService } from '@methods/proto/scheduler/v1/question_service_pb';
import { type CallOptions, type Client, rpcClient } from '@methods/rpc/client';

type QuestionClient = Client<typeof QuestionService>;
type Call = Exclude<keyof QuestionClient, 'close'>;

/** A little longer than a node waits for the owner of a run. */
const CALL_MS = 6_000;

export class QuestionCalls implements Stoppable {
  private readonly clients: readonly QuestionClient[];
  private turn = 0;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.clients = addresses.map((address) => rpcClient(QuestionService, address));
  }

  readonly list = this.call('listQuestions');
  readonly count = this.call('countQuestions');
  readonly get = this.call('getQuestion');
  readonly assign = this.call('assignQuestion');
  readonly delegate = this.call('delegateQuestion');
  readonly answer = this.call('answerQuestion');

  stop(): void {
    for (const client of this.clients) client.close();
  }

  private call<Name extends Call>(name: Name): QuestionClient[Name] {
    const call = async (request: never, options: CallOptions = { timeoutMs: CALL_MS }) => {
      const turn = this.turn++;
      let refusal: unknown = new ServiceError('unavailable');
      for (let i = 0; i < this.clients.length; i++) {
        const client = this.clients[(turn + i) % this.clients.length] as QuestionClient;
        try {
          return await (client[name] as (request: never, options: CallOptions) => Promise<unknown>)(request, options);
        } catch (error) {
          // `internal`: a node of an earlier release does not know the call.
          if (!(error instanceof ServiceError) || (error.code !== 'unavailable' && error.code !== 'internal'))
            throw error;
          refusal = error;
        }
      }
      throw refusal;
    };
    return call as QuestionClient[Name];
  }
}
