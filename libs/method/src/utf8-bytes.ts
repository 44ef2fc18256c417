// Owns bytes of texts, counted and decoded without Node's Buffer: this library also runs in browsers.

/** The bytes of the text in UTF-8. Half of a surrogate pair counts as U+FFFD, which replaces it. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) bytes += unit < 0x800 ? 1 : 2;
    // A pair has two units and four bytes.
    if (unit >= 0xd800 && isPair(text, at)) at++;
  }
  return bytes;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

/** The text in base64 as UTF-8; empty if it is not base64. */
export function textOfBase64(base64: string): string {
  let binary: string;
  try {
    binary = atob(base64);
  } catch {
    return '';
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.from(binary, (character) => character.charCodeAt(0)),
  );
}
