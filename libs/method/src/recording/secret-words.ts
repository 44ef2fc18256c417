// Owns the question whether a recorded value is a credential: by the name it was sent under, or by its form.

const WORDS = new Set(
  'password passwd passwort passphrase passcode pwd pass secret token otp totp pin cvv cvc cvv2 jwt apikey credential credentials authorization csrf xsrf sessionid sid sig signature ssn'.split(
    ' ',
  ),
);
const PAIRS = /(?:^|_)(?:api|access|private|secret|auth|session|card|client)_(?:key|id|number|secret|code)(?:_|$)/;
const PASSWORD = /(?:^|_)(?:password|passwd|passwort|passphrase|passcode|pwd|pass)(?:_|$)/;
// Places in a list, handed from page to page.
const PAGING = /(?:^|_)(?:page|next|prev|previous|continuation|cursor|sync|scroll)_token(?:_|$)/;
const JWT = /^(?:Bearer\s+)?eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
const ISSUED_KEY = /^(?:sk|pk|rk|ghp|gho|xox[abp]|glpat|AKIA|AIza)[-_A-Za-z0-9]{16,}$/;

/** True for a name such as `password`, `apiKey` or `csrf_token`. `name` is in snake case. */
export function namesSecret(name: string): boolean {
  if (PAGING.test(name) || name === 'client_id') return false;
  return PAIRS.test(name) || name.split('_').some((word) => WORDS.has(word));
}

/** True for a name that only a password has: such a value is never taken from an answer either. */
export function namesPassword(name: string): boolean {
  return PASSWORD.test(name);
}

/** True for a value that looks like a token, under any name. */
export function looksSecret(value: string): boolean {
  return value.length < 10_000 && (JWT.test(value) || ISSUED_KEY.test(value));
}

const CREDENTIAL_WORD = /pass|pwd|token|secret/i;
const GIVEN_TEXT = /\\?["']?\s*[:=]\s*\\?["']/y;

/** True for code or text that holds a credential within itself. */
export function holdsSecret(text: string): boolean {
  // Word by word: one pattern for all of it would start again at every letter of a long word.
  for (const { 0: word, index } of text.matchAll(/\w+/g)) {
    GIVEN_TEXT.lastIndex = index + word.length;
    if (CREDENTIAL_WORD.test(word) && GIVEN_TEXT.test(text)) return true;
  }
  return false;
}

/** An address as it may be shown and kept: without user, password, and parameters that carry a credential. */
export function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return '';
  const url = new URL(address);
  const isSecret = (name: string, value: string) =>
    looksSecret(value) || namesSecret(name.toLowerCase().replace(/[^a-z0-9]+/g, '_'));
  const secret = [...url.searchParams].filter(([name, value]) => isSecret(name, value));
  const hash = [...new URLSearchParams(url.hash.slice(1))].some(([name, value]) => isSecret(name, value));
  if (url.username === '' && url.password === '' && secret.length === 0 && !hash) return address;
  url.username = '';
  url.password = '';
  for (const [name] of secret) url.searchParams.delete(name);
  if (hash) url.hash = '';
  return url.href;
}

/** The path of an address for a message; parts that may be tokens are left out. */
export function shownPath(url: URL): string {
  const parts = url.pathname.split('/').map((part) => (part.length > 30 || looksSecret(part) ? '…' : part));
  return parts.join('/').slice(0, 80);
}
