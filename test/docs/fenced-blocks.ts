// The fenced blocks of a document, by the text after the fence.
export interface FencedBlock {
  /** `yaml`, `yaml steps`, `console` and so on. */
  readonly info: string;
  readonly text: string;
  /** Document and line of the fence, for a person to find it. */
  readonly at: string;
}

/** In their order. */
export function fencedBlocks({ path, text }: { readonly path: string; readonly text: string }): FencedBlock[] {
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(({ 1: info = '', 2: block = '', index }) => ({
    info: info.trim(),
    text: block,
    at: `${path}:${lineOf(text, index)}`,
  }));
}

export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
