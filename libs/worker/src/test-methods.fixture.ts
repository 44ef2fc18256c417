// Methods for tests of the worker. Their steps are HTTP requests, so a test sees each one begin and decides how it
// ends.

/** A method whose steps request `/<name>` one after the other and return `{ n }`. */
export function requestSteps(...names: string[]): string {
  const steps = names.map(
    (name) => `  - name: ${name}\n    http: { get: "http://steps.test/${name}" }\n    out: { n: integer }`,
  );
  return `format: method/2\nname: requests\nsteps:\n${steps.join('\n')}\nresult: { n: =steps.${names.at(-1)}.n }\n`;
}

/** Keeps a file, asks a question, and sends the file afterwards. */
export const fileAskUpload = `format: method/2
name: file-ask-upload
steps:
  - name: download
    http:
      get: http://steps.test/download
      take: { kept: response.file }
    out: { kept: file }
  - name: decide
    ask: Send it?
    out: { yes: boolean }
  - name: upload
    http:
      post: http://steps.test/upload
      file: =steps.download.kept
result: { sent: =steps.decide.yes }
`;

/** Keeps a file and ends. */
export const fileLast = `format: method/2
name: file-last
steps:
  - name: one
    http:
      get: http://steps.test/one
      take: { kept: response.file }
    out: { kept: file }
result: { bytes: =steps.one.kept.bytes }
`;

/** Keeps two files in sequence, each followed by a skipped step. */
export const fileSkipFileSkip = `format: method/2
name: file-skip-file-skip
steps:
  - name: one
    http:
      get: http://steps.test/one
      take: { kept: response.file }
    out: { kept: file }
  - name: never
    if: steps.one.kept.bytes < 0
    ask: Never?
    out: { yes: boolean }
  - name: two
    http:
      get: http://steps.test/two
      take: { kept: response.file }
    out: { kept: file }
  - name: neither
    if: steps.one.kept.bytes < 0
    ask: Never?
    out: { yes: boolean }
  - name: last
    if: steps.one.kept.bytes < 0
    ask: Never?
    out: { yes: boolean }
result: { bytes: =steps.two.kept.bytes }
`;

/** Shows five texts, each as large as an out may be: more than 4 MiB in all. */
export const largeQuestion = `format: method/2
name: large-question
steps:
${[1, 2, 3, 4, 5]
  .map((n) => `  - name: large${n}\n    http: { get: "http://steps.test/large" }\n    out: { text: string }`)
  .map((step) => `${step}\n    limits: { output_kb: 1024 }`)
  .join('\n')}
  - name: decide
    ask:
      question: Is it much?
      show: [steps.large1, steps.large2, steps.large3, steps.large4, steps.large5]
    out: { yes: boolean }
`;
