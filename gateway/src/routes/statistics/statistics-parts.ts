// What the routes of statistics need, and the answers that callers of one moment share.
import type { Clock } from '@methods/base/clock';
import type { AgedCache } from '../../cache/aged-cache.ts';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import type { ReadCalls } from '../../clients/read-calls.ts';
import type { DeliveryRouteParts } from '../deliveries/delivery-routes.ts';

export interface StatisticsRouteParts {
  readonly reads: ReadCalls;
  readonly questions: QuestionCalls;
  readonly deliveries: DeliveryRouteParts['deliveries'];
  readonly clock: Clock;
}

export type SharedReplies = Pick<AgedCache<string>, 'get'>;
