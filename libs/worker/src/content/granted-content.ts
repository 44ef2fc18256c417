// Opens the content of granted runs. A run that this worker cannot open is given back; one whose content is damaged
// fails, since no other worker could open it either.
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { SchedulerLink } from '../scheduler-link.ts';
import { failedItem } from '../step-message.ts';
import type { DeviceKeys } from './device-keys.ts';
import { plainContent, type RunContent } from './run-content.ts';
import { sealedContent } from './sealed-content.ts';

/** Null: the run has ended here, and its place is free. */
export function contentOf(grant: Grant, keys: DeviceKeys, link: Pick<SchedulerLink, 'send'>): RunContent | null {
  if (grant.contentId === '') return plainContent(grant);
  const { runId, token } = grant;
  const key = keys.get(grant.deviceKeyId);
  try {
    if (key === undefined) throw new SealedValueError('content_key_missing');
    return sealedContent(grant, key, keys);
  } catch (error) {
    if (!(error instanceof SealedValueError)) throw error;
    const { code, message } = error;
    const value = { runId, token, seq: 1, reason: code, cannotOpen: true };
    const isDamaged = code === 'sealed_value_damaged' && key !== undefined;
    const failure = { code: 'step_failed', kind: 'input', message };
    const failed = () => failedItem(grant, 1, { ...failure, message: sealedMessage(grant, key, message) });
    link.send(isDamaged ? failed() : { item: { case: 'giveBack', value } });
    return null;
  }
}

function sealedMessage({ contentId }: Grant, key: ReturnType<DeviceKeys['get']>, message: string): string {
  const sealed = key?.ofRun(contentId).sealJson({ kind: 'text', step: '' }, message);
  return sealed === undefined ? '' : JSON.stringify(sealed);
}
