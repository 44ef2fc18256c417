// What is sealed in a run in device mode, as JSON.
import type { RunView } from '@methods/proto/run/v1/run_pb';

const SEALED = '{"$sealed":"';

interface TextView {
  readonly message: string;
  readonly sealed?: unknown;
}

/** A message of a step or a run: its text, or what its worker sealed. What the service wrote itself is always a text. */
export function textView(text: string, { contentId }: Pick<RunView, 'contentId'>): TextView {
  return contentId !== '' && text.startsWith(SEALED) ? { message: '', sealed: JSON.parse(text) } : { message: text };
}

export function sealedJson(bytes: Uint8Array): string {
  return `{"$sealed":"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')}"}`;
}
