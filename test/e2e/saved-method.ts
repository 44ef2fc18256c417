// Methods that a test saves while the stack runs, through the registry itself. No worker holds them: their runs stay
// queued.

import { randomBytes } from 'node:crypto';
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import { TEST_DOER } from '../harness/test-doer.ts';
import type { Stack } from './stack.ts';

export class SavedMethod {
  private constructor(
    private readonly stack: Stack,
    private readonly orgId: OrgId,
    private readonly methodId: MethodId,
    /** Of the newest version. */
    public versionId: VersionId,
  ) {}

  static async create(stack: Stack, source: string, orgId = stack.ready.org_id): Promise<SavedMethod> {
    const { method } = await stack.registry.createMethod({
      doer: TEST_DOER,
      orgId,
      idempotencyHash: randomBytes(32),
      source: Buffer.from(source),
    });
    return new SavedMethod(stack, orgId, method?.methodId ?? ('' as MethodId), method?.currentVersion || 'ver_none');
  }

  /** As callers name it. */
  get id(): string {
    return `wf_${this.methodId}` as const;
  }

  async save(source: string): Promise<void> {
    const { orgId, methodId, versionId: baseVersion } = this;
    const request = { doer: TEST_DOER, orgId, methodId, baseVersion, source: Buffer.from(source) };
    this.versionId = (await this.stack.registry.saveVersion(request)).version?.versionId ?? 'ver_none';
  }

  async publish(): Promise<void> {
    const { orgId, methodId, versionId } = this;
    await this.stack.registry.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId });
  }
}

/** A method that takes a whole number `n` from `min` on. */
export function countingSource(min: number): string {
  return `format: method/2
name: counting
inputs:
  n: integer ${min}..
steps:
  - name: work
    in: [inputs.n]
    node: |
      return { n }
    out: { n: integer }
result:
  n: =steps.work.n
`;
}
