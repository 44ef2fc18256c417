// Builds node's arguments for a program that a test writes: a few lines that import our code by its URL.

/** `code`: the imported file, `new URL('./file.ts', import.meta.url)`; in built tests its built form. */
export function programArguments(program: string, code: URL): string[] {
  const loader = code.pathname.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [];
  return [...loader, '--input-type=module', '--eval', program];
}
