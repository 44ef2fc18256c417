// A method as the documented JSON object.
import { productionMethodId, type VersionId } from '@methods/base/ids';
import type { Method } from '@methods/proto/registry/v1/method_pb';
import { type PartyView, partyView, timeView } from './party-view.ts';

export interface MethodView {
  readonly id: string;
  readonly production_id: string;
  readonly display_name: string;
  /** building, ready or failed. */
  readonly status: string;
  readonly format: string;
  readonly current_version: VersionId | null;
  readonly published_version: VersionId | null;
  readonly available_records: readonly string[];
  readonly build: { readonly state: string; readonly attempts: number; readonly error: string | null } | null;
  readonly offered_to_agents: boolean;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly created_by: PartyView | null;
}

export function methodView(method: Method): MethodView {
  const { build } = method;
  return {
    id: method.methodId,
    production_id: productionMethodId(method.methodId),
    display_name: method.displayName,
    status: method.status,
    format: method.format,
    current_version: method.currentVersion || null,
    published_version: method.publishedVersion || null,
    available_records: method.availableRecords,
    build: build ? { state: build.state, attempts: build.attempts, error: build.error || null } : null,
    offered_to_agents: method.offeredToAgents,
    created_at: timeView(method.createdAtMs),
    updated_at: timeView(method.updatedAtMs),
    created_by: partyView(method.createdBy),
  };
}
