// Warns at a save of questions that need more people than may answer them in the organization (M522).
import type { OrgId } from '@methods/base/ids';
import { tooFewPeople } from '@methods/method/needed-people';
import { inject, injectable } from 'tsyringe';
import { type SourceVerdict, toFinding } from '../method/source-verdict.ts';
import { UserStore } from '../store/user-store.ts';

/** Larger organizations are not counted. */
const MEMBERS_MAX = 1_000;
const FINDINGS_MAX = 100;

@injectable()
export class CountedPeople {
  constructor(@inject(UserStore) private readonly users: UserStore) {}

  /** The verdict with these warnings, in the order of the text. */
  async judge(verdict: SourceVerdict, orgId: OrgId): Promise<SourceVerdict> {
    if (verdict.needed.length === 0) return verdict;
    const members = await this.users.allOf(orgId, MEMBERS_MAX);
    if (members === null) return verdict;
    const warnings = verdict.needed.flatMap((needed) => tooFewPeople(needed, members) ?? []).map(toFinding);
    const findings = [...verdict.findings, ...warnings].sort(
      (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
    return { ...verdict, findings: findings.slice(0, FINDINGS_MAX) };
  }
}
