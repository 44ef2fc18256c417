// The paths of the page that shows the API's description.

export const REFERENCE_PATHS = ['/reference', '/reference/', '/reference/js/scalar.js'] as const;

export type ReferencePage = Readonly<
  Record<
    (typeof REFERENCE_PATHS)[number],
    {
      readonly status: number;
      readonly type: string;
      /** Of a redirection. */
      readonly location: string | null;
      readonly body: Uint8Array;
    }
  >
>;
