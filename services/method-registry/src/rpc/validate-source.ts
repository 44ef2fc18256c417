// ValidateSource: what saving a source would find. Nothing is saved.
import type { ValidateSourceRequest } from '@methods/proto/registry/v1/method_registry_service_pb';
import { inject, injectable } from 'tsyringe';
import { sourceFindings } from '../method/method-source.ts';
import { CalledMethods } from './called-methods.ts';
import { orgIdOf } from './request-ids.ts';

@injectable()
export class ValidateSource {
  constructor(@inject(CalledMethods) private readonly called: CalledMethods) {}

  async handle(request: ValidateSourceRequest) {
    const orgId = orgIdOf(request.orgId);
    const findings = sourceFindings(request.source, await this.called.of(orgId, null, request.source));
    return {
      ok: findings.every(({ severity }) => severity !== 'error'),
      findings: findings.map((finding) => ({ ...finding })),
    };
  }
}
