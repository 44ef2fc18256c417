// Why a sealed value does not open.

export type SealedValueFault = 'content_key_missing' | 'sealed_value_damaged';

const MESSAGES: Readonly<Record<SealedValueFault, string>> = {
  content_key_missing: 'Another content key sealed this value.',
  sealed_value_damaged: 'The sealed value is damaged, or belongs to another run or place.',
};

/**
 * `content_key_missing`: sealed with another content key. `sealed_value_damaged`: changed, cut, or moved from another
 * organization, run, step or kind; which of these cannot be known.
 */
export class SealedValueError extends Error {
  override readonly name = 'SealedValueError';

  constructor(readonly code: SealedValueFault) {
    super(MESSAGES[code]);
  }
}
