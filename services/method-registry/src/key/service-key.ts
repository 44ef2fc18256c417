// A service key as the registry knows it: never the key, only what recognizes it.

export interface ServiceKey {
  readonly orgId: string;
  readonly keyId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}
