// Why a try got no answer, in words for the operator who inspects the delivery.

export type TryFault =
  | 'invalid_url'
  | 'host_not_allowed'
  | 'dns_failed'
  | 'address_not_public'
  | 'connect_failed'
  | 'tls_failed'
  | 'bad_answer'
  | 'timeout'
  | 'signing_secret_missing'
  | 'endpoint_removed'
  | 'endpoint_paused'
  | 'message_failed';

export class TryFailed extends Error {
  override readonly name = 'TryFailed';

  /** `detail` is a system error code or a sentence of ours; never content, never an address of our network. */
  constructor(fault: TryFault, detail?: string) {
    super(detail === undefined ? fault : `${fault}: ${detail}`);
  }
}

/** Describes a failure of the connection or of the answer, by the code of the HTTP client or the system. */
export function connectionFault(error: unknown): TryFailed {
  if (error instanceof TryFailed) return error;
  const code = codeOf(error);
  if (code.includes('TIMEOUT') || code === 'ETIMEDOUT') return new TryFailed('timeout', code);
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|UNABLE_TO_|SELF_SIGNED|HOSTNAME_)/.test(code) || code === 'EPROTO') {
    return new TryFailed('tls_failed', code);
  }
  if (/^(HTTPParserError|HPE_|UND_ERR_(HEADERS|RES|SOCKET|INFO))/.test(code)) return new TryFailed('bad_answer', code);
  return new TryFailed('connect_failed', code);
}

/** Returns the first code found, also inside the several failures of a host with several addresses. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
