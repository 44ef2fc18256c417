// Why a sealed value does not open.

export type SealedValueFault = 'content_key_missing' | 'content_grant_damaged' | 'sealed_value_damaged';

/**
 * `content_key_missing`: sealed with another content key. `content_grant_damaged`: the same, and the grant of a key,
 * perhaps of that one, does not open. `sealed_value_damaged`: changed, cut, or moved from another organization, run, step
 * or kind; which of these cannot be known.
 */
export class SealedValueError extends Error {
  override readonly name = 'SealedValueError';

  /** @param keyIds for `content_grant_damaged` */
  constructor(
    readonly code: SealedValueFault,
    keyIds = '',
  ) {
    super(messageOf(code, keyIds));
  }
}

function messageOf(code: SealedValueFault, keyIds: string): string {
  switch (code) {
    case 'content_key_missing':
      return 'Another content key sealed this value.';
    case 'content_grant_damaged':
      return `Another content key sealed this value. What was granted of ${keyIds} does not open: it was changed, or wrapped for another key. Rotate that key again.`;
    case 'sealed_value_damaged':
      return 'The sealed value is damaged, or belongs to another run or place.';
  }
}
