// RecordAudit and ListAudit: other services add their acts to the log, and admins read it.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  ListAuditRequest,
  RecordAuditRequest,
  RecordedAudit,
} from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { type ReportedAct, TARGET_KINDS, type TargetKind } from '../audit/audit-entry.ts';
import { pageRequest } from '../page/page.ts';
import { AuditStore } from '../store/audit-store.ts';
import { boundedText } from '../text/bounded-text.ts';
import { auditMessage } from './registry-message.ts';
import { doerOf, orgIdOf } from './request-fields.ts';

const ENTRIES_MAX = 256;
const FACTS_CHARACTERS_MAX = 8_192;
const ACTION = /^[a-z_]{1,32}\.[a-z_]{1,31}$/;
/** Year 9999. */
const TIME_MAX_MS = 253_402_300_799_999;

@injectable()
export class AuditLog {
  constructor(@inject(AuditStore) private readonly audit: AuditStore) {}

  async record({ entries }: RecordAuditRequest) {
    if (entries.length > ENTRIES_MAX) {
      throw new ServiceError('invalid_request', `One call records at most ${ENTRIES_MAX} entries.`);
    }
    await this.audit.record(entries.map(reportedAct));
    return {};
  }

  async list(request: ListAuditRequest) {
    const filter = {
      action: boundedText('action', request.action, { min: 0, max: 64 }),
      targetId: boundedText('target_id', request.targetId, { min: 0, max: 128 }),
      doerId: boundedText('doer_id', request.doerId, { min: 0, max: 128 }),
      after: time('after_ms', request.afterMs),
      before: time('before_ms', request.beforeMs),
    };
    const page = pageRequest(request, (id) => isId('aud', id));
    const { items, nextCursor } = await this.audit.list(orgIdOf(request.orgId), filter, page);
    return { entries: items.map(auditMessage), nextCursor };
  }
}

/** Null: any time. */
function time(field: string, ms: number): Date | null {
  if (ms === 0) return null;
  if (ms > 0 && ms <= TIME_MAX_MS) return new Date(ms);
  throw new ServiceError('invalid_request', `${field} is not a valid time.`);
}

function reportedAct(entry: RecordedAudit): ReportedAct {
  if (!isId('aud', entry.auditId)) throw new ServiceError('invalid_request', 'An entry has a malformed audit_id.');
  if (!ACTION.test(entry.action)) throw new ServiceError('invalid_request', 'An action reads <noun>.<verb>.');
  if (!isTargetKind(entry.targetKind)) throw new ServiceError('invalid_request', 'Unknown kind of target.');
  if (!(entry.atMs > 0 && entry.atMs <= TIME_MAX_MS)) {
    throw new ServiceError('invalid_request', 'The time of an entry is not valid.');
  }
  return {
    orgId: orgIdOf(entry.orgId),
    auditId: entry.auditId,
    at: new Date(entry.atMs),
    doer: doerOf(entry.doer),
    action: entry.action,
    targetKind: entry.targetKind,
    targetId: boundedText('target_id', entry.targetId, { min: 1, max: 128 }),
    beforeJson: facts('before_json', entry.beforeJson),
    afterJson: facts('after_json', entry.afterJson),
  };
}

function isTargetKind(text: string): text is TargetKind {
  return (TARGET_KINDS as readonly string[]).includes(text);
}

/** Returns a JSON object as received, or null for the empty text. */
function facts(field: string, json: string): string | null {
  if (json === '') return null;
  if (json.length <= FACTS_CHARACTERS_MAX && isJsonObject(json)) return json;
  throw new ServiceError('invalid_request', `${field} is a JSON object of at most ${FACTS_CHARACTERS_MAX} characters.`);
}

function isJsonObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
