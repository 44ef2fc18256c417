// Who does what tests do in an organization.
export const TEST_DOER = { kind: 'system', id: 'test', ip: '', requestId: '' } as const;
