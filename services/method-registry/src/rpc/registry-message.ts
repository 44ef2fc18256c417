// The registry's objects as protobuf messages: methods, versions, members, settings and audit lines. The services'
// types check them where they are sent.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodSchema } from '@methods/proto/registry/v1/method_pb';
import type { Member } from '../account/member.ts';
import type { Settings } from '../account/organization.ts';
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { ServiceKey } from '../key/service-key.ts';
import { availableRecords, type Method, methodStatus, type Version } from '../method/method.ts';

export function methodMessage(method: Method): MessageInitShape<typeof MethodSchema> {
  return {
    methodId: method.methodId,
    orgId: method.orgId,
    displayName: method.displayName,
    status: methodStatus(method),
    format: method.format,
    currentVersion: method.currentVersion ?? '',
    publishedVersion: method.publishedVersion ?? '',
    createdAtMs: method.createdAt.getTime(),
    updatedAtMs: method.updatedAt.getTime(),
    createdBy: { ...method.createdBy },
    availableRecords: availableRecords(method),
    offeredToAgents: method.isOffered,
    ...(method.build === null ? {} : { build: { ...method.build } }),
  };
}

/** Without source and lock. */
export function versionMessage(version: Version) {
  return {
    methodId: version.methodId,
    versionId: version.versionId,
    schemaVersion: version.schemaVersion,
    sha256: version.sha256,
    reason: version.reason,
    createdAtMs: version.createdAt.getTime(),
    createdBy: { ...version.createdBy },
    publishedAtMs: version.publishedAt?.getTime() ?? 0,
    ...(version.publishedBy === null ? {} : { publishedBy: { ...version.publishedBy } }),
    features: [...version.features],
    secrets: [...version.secrets],
    calls: { ...version.calls },
    lockSha256: version.lockSha256 ?? '',
  };
}

export function serviceKeyMessage(key: ServiceKey) {
  return {
    keyId: key.keyId,
    orgId: key.orgId,
    name: key.name,
    createdAtMs: key.createdAt.getTime(),
    createdBy: { ...key.createdBy },
    revokedAtMs: key.revokedAt?.getTime() ?? 0,
    lastUsedAtMs: key.lastUsedAt?.getTime() ?? 0,
  };
}

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
