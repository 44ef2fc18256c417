// Builds the reply of a batch of starts from its outcomes, with a bounded size.
import { errorBody } from '@methods/errors/error-body';
import type { ServiceError } from '@methods/errors/service-error';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import type { AcceptedStart } from './start-steps.ts';

/**
 * For the error details of the whole batch. An error over the budget has no details; a repeat of that start returns
 * them.
 */
const DETAILS_CHARACTERS_MAX = 1 << 20;

export class BatchOutcomes {
  private readonly items: string[];
  private detailsLeft = DETAILS_CHARACTERS_MAX;

  constructor(
    count: number,
    private readonly requestId: string,
  ) {
    this.items = new Array<string>(count);
  }

  accepted(n: number, { run, isRepeat }: AcceptedStart): void {
    const status = isRepeat ? runStatusName(run.status) : 'queued';
    this.items[n] = `{"status":${isRepeat ? 200 : 201},"run":${startedRunJson(run, status)}}`;
  }

  refused(n: number, error: ServiceError): void {
    const { status, headers, body } = errorBody(error, this.requestId);
    const retry = headers['retry-after'];
    this.items[n] = `{"status":${status},"error":${this.errorJson(body)}${retry ? `,"retry_after":${retry}` : ''}}`;
  }

  json(): string {
    return `{"items":[${this.items.join(',')}]}`;
  }

  private errorJson(body: { readonly details?: unknown }): string {
    const { details, ...rest } = body;
    if (details === undefined) return JSON.stringify(rest);
    const detailsJson = JSON.stringify(details);
    if (detailsJson.length > this.detailsLeft) return JSON.stringify(rest);
    this.detailsLeft -= detailsJson.length;
    return JSON.stringify(body);
  }
}
