// Removes the parts of a request that a chat may repeat from the stored answer.

/** A shorter prefix of a secret reveals nothing about it. */
const BEGINNING_MIN = 6;

/** Removes the secrets, and a prefix of one that the end of the text has cut. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, '…');
  for (const secret of secrets) {
    const beginning = cutSecret(shown, secret);
    if (beginning > 0) shown = `${shown.slice(0, -beginning)}…`;
  }
  return shown;
}

/** Returns how many characters of the secret are at the end of the text. */
function cutSecret(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= BEGINNING_MIN; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
