// Writes times as the page shows them: in the organization's zone. A script adds the reader's own time.
import { zonedTime } from '@methods/base/zoned-time';
import { type Html, html } from './html.ts';

export function timePart(ms: number, zone: string): Html {
  const date = new Date(ms);
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return html`<time datetime="${iso}">${zonedTime(ms, zone)}</time>`;
}
