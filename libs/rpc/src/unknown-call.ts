// Reports whether a call failed because its service does not know it: a process of the previous release.
import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@methods/errors/service-error';

export function isUnknownCall({ cause }: ServiceError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === status.UNIMPLEMENTED;
}
