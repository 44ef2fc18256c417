// Texts as an attacker, or bad luck, writes them: pages and tools have to show them, harmless and readable.

export const HOSTILE_TEXTS: readonly string[] = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>{{constructor.constructor("alert(1)")()}}',
  'javascript:alert(1)//%0d%0aSet-Cookie: a=b',
  '\u202egnp.exe\u202c left-to-right again \u2066isolated\u2069',
  '\u200f\u061c\u05d0\u05d1\u05d2 mixed with English \u0627\u0644\u0639\u0631\u0628\u064a\u0629 123',
  '\u001b[31mred\u001b[0m \u001b]8;;https://example.com\u0007a link\u001b]8;;\u0007 \u001b[2J\u001b[H',
  'Z\u0351\u034f\u0322\u0341\u033c\u0347a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308l\u030a\u030b\u030c\u030d\u030e\u030fgo\u0310\u0311\u0312\u0313\u0314\u0315\u031a\u031b',
  '=HYPERLINK("https://example.com","click")',
  "@SUM(1+1)*cmd|' /C calc'!A0",
  'a\tb\rc\nd\u0085e\u2028f\u2029g',
  `${'word'.repeat(40)} ${'\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}'.repeat(10)}`,
  '../../../etc/passwd',
  "Robert'); drop table students;--",
  'null undefined NaN [object Object] -0 1e309',
];

/** One line without a space: the size that pages have to fold. */
export function longLine(characters: number): string {
  return 'x'.repeat(characters);
}
