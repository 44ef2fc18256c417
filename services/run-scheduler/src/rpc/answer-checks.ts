// Judges an answer by the `ensure` checks of its question when it is given, using the version's saved source. An answer
// that cannot be judged now is left to the worker, which asks again instead of failing the run.
import type { OrgId, ProductionId, VersionId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { AnswerChecksOf } from '../run/run.ts';
import type { FormThreads } from '../worker-stream/form-threads.ts';
import type { SavedVersion } from '../worker-stream/question-forms.ts';

export class AnswerChecks {
  constructor(
    private readonly options: {
      readonly versionOf: (orgId: OrgId, method: ProductionId, versionId: VersionId) => Promise<SavedVersion>;
      readonly threads: Pick<FormThreads, 'judge'>;
      readonly logger: Logger;
    },
  ) {}

  /** Returns a sentence for each check that the answer fails. Never rejects. */
  async refusals(orgId: OrgId, checks: AnswerChecksOf, answerJson: string): Promise<readonly string[]> {
    const { method, versionId, path, scopeJson } = checks;
    try {
      const { source } = await this.options.versionOf(orgId, method, versionId);
      return await this.options.threads.judge(orgId, { source, path, scopeJson, answerJson });
    } catch (error) {
      this.options.logger.debug({ error }, 'the checks of an answer are left to its worker');
      return [];
    }
  }
}
