// Why no connection was made, from what grpc-js keeps of it: a text.
import type { ServiceError } from '@methods/errors/service-error';

export interface ConnectFault {
  /** As Node words it, such as `certificate has expired`. */
  readonly reason: string;
  /** Of the other side's certificate: the code that Node gives its fault, such as `CERT_HAS_EXPIRED`. */
  readonly certificate?: string;
}

const REASON = /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/s;
const REASON_LENGTH_MAX = 300;
/** The first that fits: a text may have the words of another one. */
const CERTIFICATE: readonly (readonly [RegExp, string])[] = [
  [/certificate has expired/, 'CERT_HAS_EXPIRED'],
  [/certificate is not yet valid/, 'CERT_NOT_YET_VALID'],
  [/certificate revoked/, 'CERT_REVOKED'],
  [/does not match certificate's altnames/, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [/self-signed certificate in certificate chain/, 'SELF_SIGNED_CERT_IN_CHAIN'],
  [/self-signed certificate/, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  [/unable to verify the first certificate/, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [/unable to get (local )?issuer certificate/, 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
];

/** Null: there was a connection, or grpc-js does not say why there is none. */
export function connectFault(error: ServiceError): ConnectFault | null {
  const { details = '' } = Object(error.cause) as { readonly details?: string };
  const found = REASON.exec(details)?.[1]?.trim();
  if (found === undefined || found === '') return null;
  const reason = found.replace(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX);
  const certificate = CERTIFICATE.find(([words]) => words.test(reason))?.[1];
  return certificate === undefined ? { reason } : { reason, certificate };
}
