// Keeps what a chat may repeat of a request out of what is stored of its answer.

/** A shorter beginning of a secret says nothing about it. */
const BEGINNING_MIN = 6;

/** Without the secrets, and without the beginning of one that the end of the text has cut. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, '…');
  for (const secret of secrets) {
    const beginning = cutSecret(shown, secret);
    if (beginning > 0) shown = `${shown.slice(0, -beginning)}…`;
  }
  return shown;
}

/** How much of the secret is at the end of the text. */
function cutSecret(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= BEGINNING_MIN; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
