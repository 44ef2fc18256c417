// The nonce of the page's policy: styles that a library writes while the page runs carry it.

/** Browsers hide the attribute, and show the property to the page's own scripts. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}
