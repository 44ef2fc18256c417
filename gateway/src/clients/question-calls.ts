// Calls to the run-schedulers about questions.
import type { Stoppable } from '@methods/base/stoppable';
import { QuestionService } from '@methods/proto/scheduler/v1/question_service_pb';
import { AnyNode } from './any-node.ts';

export class QuestionCalls implements Stoppable {
  private readonly nodes: AnyNode<typeof QuestionService>;

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.nodes = new AnyNode(QuestionService, addresses);
    this.list = this.nodes.call('listQuestions');
    this.count = this.nodes.call('countQuestions');
    this.get = this.nodes.call('getQuestion');
    this.assign = this.nodes.call('assignQuestion');
    this.delegate = this.nodes.call('delegateQuestion');
    this.answer = this.nodes.call('answerQuestion');
  }

  readonly list;
  readonly count;
  readonly get;
  readonly assign;
  readonly delegate;
  readonly answer;

  stop(): void {
    this.nodes.stop();
  }
}
