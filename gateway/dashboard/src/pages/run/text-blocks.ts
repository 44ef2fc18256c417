// Cuts a long text into blocks of some lines, so that a browser lays out only those in view. Pure.
const BLOCK_CHARACTERS = 4_000;

/** Cuts at line ends where there are any, and never within a character. Joined by line ends, or nothing, they are the text. */
export function textBlocks(text: string): string[] {
  const blocks: string[] = [];
  for (let from = 0; from < text.length; ) {
    const until = from + BLOCK_CHARACTERS;
    if (until >= text.length) {
      blocks.push(text.slice(from));
      break;
    }
    const line = text.lastIndexOf('\n', until);
    if (line > from) {
      blocks.push(text.slice(from, line));
      from = line + 1;
      continue;
    }
    const end = isFirstHalf(text.charCodeAt(until - 1)) ? until - 1 : until;
    blocks.push(text.slice(from, end));
    from = end;
  }
  return blocks;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
