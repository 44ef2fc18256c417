// The reports of a step's running code, besides its prints, and their form in the log.
import { cutText, wellFormed } from '@methods/method/cut-text';
import type { JsonValue } from '@methods/method/json';
import { wellFormedJson } from '@methods/method/lone-surrogates';
import type { Mask } from './secrets/mask.ts';

/** Of a check. */
export const NAME_CHARACTERS_MAX = 120;

export interface LogEvent {
  readonly t: 'log';
  readonly message: string;
  /** Undefined: only the message. */
  readonly data: JsonValue | undefined;
}

export interface ProgressEvent {
  readonly t: 'progress';
  /** 0 to 1; null: the code gave no number. */
  readonly at: number | null;
  readonly message: string | null;
}

export interface CheckEvent {
  readonly t: 'check';
  readonly name: string;
  readonly ok: boolean;
  readonly level: 'error' | 'warn';
  readonly message: string | null;
  readonly actual: JsonValue;
}

export type StepEvent = LogEvent | ProgressEvent | CheckEvent;

/** Without secrets, and readable by every reader of JSON. */
export function maskedEvent(event: StepEvent, mask: Mask): StepEvent {
  const text = (said: string) => wellFormed(mask.text(said));
  const json = (value: JsonValue) => wellFormedJson(mask.json(value));
  const said = event.message === null ? {} : { message: text(event.message) };
  switch (event.t) {
    case 'log':
      return { ...event, ...said, data: event.data === undefined ? undefined : json(event.data) };
    case 'progress':
      return { ...event, ...said };
    case 'check':
      return { ...event, ...said, name: cutText(text(event.name), NAME_CHARACTERS_MAX), actual: json(event.actual) };
  }
}

/** Its line in the log, with its end. */
export function logLine(event: LogEvent | ProgressEvent): string {
  if (event.t === 'progress') return `progress ${progressText(event)}\n`;
  return event.data === undefined ? `${event.message}\n` : `${event.message} ${JSON.stringify(event.data)}\n`;
}

/** Such as `50 % half`. */
export function progressText({ at, message }: Pick<ProgressEvent, 'at' | 'message'>): string {
  const share = at === null ? '' : `${Math.round(at * 100)} %`;
  return `${share}${message === null ? '' : ` ${message}`}`;
}
