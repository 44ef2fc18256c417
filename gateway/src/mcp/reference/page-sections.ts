// Splits docs/language.md into its sections, for readers that get one at a time and cannot follow a link. Pure.

export interface PageSection {
  /** As written: `Errors and retries`. The page's title heads what is before the first section. */
  readonly heading: string;
  /** Markdown, with the heading. */
  readonly text: string;
}

/** What the text after a fence says of a fragment; docs/language.md checks each fragment in such a place. */
const FRAGMENTS: Readonly<Record<string, string>> = {
  'yaml steps': '# entries of steps:',
  'yaml top': '# top-level keys',
  'yaml fields': '# fields, as under inputs: or out:',
  'yaml inputs': '# the inputs of the examples',
};

/** In the order of the page; what is below a `###` is a section of its own. */
export function pageSections(page: string): PageSection[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of page.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,3} (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ heading, lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => ({ heading, text: `${lines.join('\n').trim()}\n` }));
}

/** The fragment of a URL that leads to a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** With plain fences and narrow tables, and `linkText` of each link's words and target in a link's place. */
export function readWithoutLinks(text: string, linkText: (words: string, target: string) => string): string {
  return text
    .split(/(^```[^\n]*\n[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith('```')
        ? plainFence(part)
        : narrowTables(part.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words, target) => linkText(words, target))),
    )
    .join('');
}

function plainFence(block: string): string {
  return block.replace(/^```([^\n]*)/, (fence, info: string) => {
    const [language = ''] = info.split(' ');
    const fragment = FRAGMENTS[info];
    return fragment === undefined ? fence.replace(info, language) : `\`\`\`${language}\n${fragment}`;
  });
}

/** The room between a cell and its border is for people who read the source. */
function narrowTables(text: string): string {
  return text.replace(/^\|.*\|$/gm, (row) => row.replace(/ {2,}\|/g, ' |').replace(/-{4,}/g, '---'));
}
