// Who makes a request, once authenticated. (An `Actor` is something else: the owner of a run.)

export type Caller = ServiceKeyCaller;

/** A customer's back end or worker. It acts in its key's organization and in no other. */
export interface ServiceKeyCaller {
  readonly kind: 'service_key';
  readonly orgId: string;
  readonly keyId: string;
}
