// ValidateSource: what saving a source would find. Nothing is saved.
import type { ValidateSourceRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import { inject, injectable } from 'tsyringe';
import { CalledMethods } from './called-methods.ts';
import { orgIdOf } from './request-ids.ts';

@injectable()
export class ValidateSource {
  constructor(@inject(CalledMethods) private readonly called: CalledMethods) {}

  async handle(request: ValidateSourceRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const { verdict } = await this.called.judge(request.source, null, { orgId, signal });
    const { findings } = verdict;
    return {
      ok: findings.every(({ severity }) => severity !== 'error'),
      findings: findings.map((finding) => ({ ...finding })),
    };
  }
}
