// Members, settings and audit lines as protobuf messages. The service's types check them where they are sent.
import type { Member } from '../account/member.ts';
import type { Settings } from '../account/organization.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';

export function memberMessage(member: Member) {
  return {
    orgId: member.orgId,
    orgName: member.orgName,
    userId: member.userId,
    role: member.role,
    email: member.email,
    emailVerified: member.emailVerified,
    name: member.name,
    createdAtMs: member.createdAt.getTime(),
    lastSeenAtMs: member.lastSeenAt.getTime(),
    disabledAtMs: member.disabledAt?.getTime() ?? 0,
  };
}

export function settingsMessage(settings: Settings) {
  return {
    contentOnDevices: settings.contentOnDevices,
    retentionDays: settings.retentionDays,
    webhookHosts: [...settings.webhookHosts],
    timeZone: settings.timeZone,
  };
}

export function auditMessage(entry: AuditEntry) {
  return {
    auditId: entry.auditId,
    orgId: entry.orgId,
    atMs: entry.at.getTime(),
    by: { ...entry.by },
    ip: entry.ip,
    requestId: entry.requestId,
    client: entry.client,
    action: entry.action,
    targetKind: entry.targetKind,
    targetId: entry.targetId,
    beforeJson: entry.beforeJson ?? '',
    afterJson: entry.afterJson ?? '',
  };
}
