// Encodings of a text as programs write them, independent of the mask's search.
import { inspect } from 'node:util';

type Encoder = (value: string) => string;

const json: Encoder = (value) => JSON.stringify(value).slice(1, -1);
const hex: Encoder = (value) => Buffer.from(value).toString('hex');
const base64: Encoder = (value) => Buffer.from(value).toString('base64');
const pairs: Encoder = (value) => hex(value).replace(/../g, '$& ').trim();
const wrapped = (width: number, end: string, text: string) =>
  (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).map((line) => line + end).join('');
/** RFC 4648. */
const base32: Encoder = (value) => {
  const bits = [...Buffer.from(value)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digits = (bits.match(/.{1,5}/g) ?? []).map((five) => {
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)];
  });
  return digits.join('').padEnd(Math.ceil(digits.length / 8) * 8, '=');
};
const unicode: Encoder = (value) =>
  Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
const go: Encoder = (value) => json(value).replace(/[&<>]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`);
/** Like GNU bash in a UTF-8 locale. */
const printfQ: Encoder = (value) => value.replace(/[ "'\\&<>=%;*()!#$`|~?[\]{}^]/g, '\\$&');
const strictUrl: Encoder = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
const entities =
  (write: (point: number) => string): Encoder =>
  (value) =>
    [...value].map((character) => write(character.codePointAt(0) ?? 0)).join('');

export function encodersOf(): Readonly<Record<string, Encoder>> {
  return {
    'as it is': (value) => value,
    'over two lines': (value) => `${value.slice(0, 12)}\n${value.slice(12, 18)}${value.slice(18)}`,
    'in JSON': json,
    'in JSON within JSON': (value) => json(json(value)),
    'in JSON within JSON within JSON': (value) => json(json(json(value))),
    'in JSON of Go': go,
    'in JSON of Go within JSON': (value) => json(go(value)),
    'in JSON of ASCII only': (value) =>
      json(value).replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'in JSON with escaped slashes': (value) => json(value).replaceAll('/', '\\/'),
    'in escapes of JSON only': unicode,
    'in upper-case escapes of JSON': (value) => unicode(value).replace(/[a-f]/g, (digit) => digit.toUpperCase()),
    'in a printed object of node': (value) => inspect({ value }, { breakLength: 10_000, maxStringLength: null }),
    'in a printed text of python': (value) => value.replaceAll('\\', '\\\\').replaceAll("'", "\\'"),
    'in printed bytes of python': (value) =>
      [...Buffer.from(value)]
        .map((byte) => (byte > 126 ? `\\x${byte.toString(16)}` : json(String.fromCharCode(byte))))
        .join('')
        .replaceAll('\\"', '"'),
    'in octal': (value) => [...Buffer.from(value)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    'in a URL': encodeURIComponent,
    'in a URL with lower-case digits': (value) => encodeURIComponent(value).replace(/%../g, (it) => it.toLowerCase()),
    'in a URL as python quotes it': (value) => strictUrl(value).replaceAll('%2F', '/'),
    'in a form as python makes it': (value) => strictUrl(value).replaceAll('%20', '+'),
    'in a URL within a URL': (value) => encodeURIComponent(strictUrl(value)),
    'in a URL within a URL within a URL': (value) => encodeURIComponent(encodeURIComponent(encodeURIComponent(value))),
    'in a URL of escapes only': (value) => hex(value).replace(/../g, '%$&'),
    'in a form': (value) => new URLSearchParams({ value }).toString().slice(6),
    'in HTML': (value) => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
    'in HTML within JSON of Go': (value) => go(value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')),
    'in decimal entities': entities((point) => `&#${point};`),
    'in hex entities': entities((point) => `&#x${point.toString(16)};`),
    'in upper-case hex entities with zeros': entities(
      (point) => `&#X${point.toString(16).toUpperCase().padStart(6, '0')};`,
    ),
    'in CSV': (value) => `"${value.replaceAll('"', '""')}"`,
    'in CSV within JSON': (value) => json(`"${value.replaceAll('"', '""')}"`),
    'in SQL': (value) => `'${value.replaceAll("'", "''")}'`,
    'in quotes of a shell': (value) => `'${value.replaceAll("'", "'\\''")}'`,
    'in quotes of a shell as python writes them': (value) => `'${value.replaceAll("'", `'"'"'`)}'`,
    'in printf %q': printfQ,
    'in printf %q within JSON': (value) => json(printfQ(value)),
    'in hex': hex,
    'in upper-case hex': (value) => hex(value).toUpperCase(),
    'in hex with colons': (value) => pairs(value).replaceAll(' ', ':'),
    'in upper-case hex with hyphens': (value) => pairs(value).replaceAll(' ', '-').toUpperCase(),
    'in hex with spaces': pairs,
    'in hex of words': (value) => hex(value).replace(/..../g, '$& '),
    'in hex in lines': (value) => wrapped(60, '\n', hex(value)),
    'in hex of an array': (value) =>
      pairs(value)
        .split(' ')
        .map((it) => `0x${it}`)
        .join(', '),
    'in hex of a C string': (value) =>
      pairs(value)
        .split(' ')
        .map((it) => `\\x${it}`)
        .join(''),
    'in bytes as numbers': (value) => `[${[...Buffer.from(value)].join(',')}]`,
    'in bytes as Go prints them': (value) => `[${[...Buffer.from(value)].join(' ')}]`,
    'in a buffer within JSON': (value) => JSON.stringify(Buffer.from(value), null, 2),
    'in base64': base64,
    'in base64url': (value) => Buffer.from(value).toString('base64url'),
    'in base64 after one byte': (value) => base64(`a${value}b`),
    'in base64 after two bytes': (value) => base64(`ab${value}cd`),
    'in base64 after three bytes': (value) => base64(`abc${value}def`),
    'in base64url after one byte': (value) => Buffer.from(`a${value}`).toString('base64url'),
    'in base64 in lines of 76': (value) => wrapped(76, '\n', base64(`a${value}`)),
    'in base64 in lines of 64': (value) => wrapped(64, '\n', base64(`ab${value}`)),
    'in base64 in lines of a mail': (value) => wrapped(76, '\r\n', base64(value)),
    'in base64 in indented lines': (value) => wrapped(20, '\n    ', base64(value)),
    'in base64 in lines within JSON': (value) => json(wrapped(76, '\n', base64(value))),
    'in base64 in lines within JSON within JSON': (value) => json(json(wrapped(64, '\n', base64(value)))),
    'in base64 in a URL': (value) => encodeURIComponent(base64(value)),
    'in base64 in lines in a URL': (value) => encodeURIComponent(wrapped(76, '\n', base64(value))),
    'in base64 of JSON': (value) => base64(JSON.stringify({ value })),
    'in a basic header': (value) => `Basic ${base64(`user:${value}`)}`,
    'in a basic header of OAuth': (value) => `Basic ${base64(`user:${encodeURIComponent(value)}`)}`,
    'in base32': base32,
    'in lower-case base32': (value) => base32(value).toLowerCase(),
    'in base32 after one byte': (value) => base32(`a${value}`),
    'in base32 after two bytes': (value) => base32(`ab${value}`),
    'in base32 after three bytes': (value) => base32(`abc${value}`),
    'in base32 after four bytes': (value) => base32(`abcd${value}`),
    'in base32 in lines': (value) => wrapped(64, '\n', base32(value)),
  };
}
