// The doer that tests use for changes in an organization.
export const TEST_DOER = { kind: 'system', id: 'test', ip: '', requestId: '' } as const;
