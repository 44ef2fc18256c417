// Icons of one weight: 16 px, a line of 1.5. They are decoration: the words beside them carry the meaning.

const PATHS = {
  production: 'M2 12.5h2l2-8 3 10 2-6 1 2.5h2',
  inbox: 'M2.5 9.5 4 3.5h8l1.5 6v3h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3',
  methods: 'M3 2.5h6.5L13 6v7.5H3zM9.5 2.5V6H13M5.5 9h5M5.5 11.2h3',
  workers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  deliveries: 'M14 2.5 7 9.5M14 2.5l-4.5 11-2.5-4-4-2.5z',
  usage: 'M2.5 13.5h11M4.5 11V7M8 11V3.5M11.5 11V6',
  settings: 'M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10 3.3v3.4M5.8 9.3v3.4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.2 3.2',
  copy: 'M5.5 5.5h7v8h-7zM5.5 10.5h-2v-8h7v3',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  cross: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4 6 8l4 4',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  warning: 'M8 2.5 14.2 13H1.8zM8 6.5v3M8 11.4h.01',
  external: 'M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3 7.5 8.5',
  panel: 'M2.5 3h11v10h-11zM6.5 3v10',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.7-.9 1.3M8 11.3h.01',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v3h-3',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
  plus: 'M8 3v10M3 8h10',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.2l2 1.3',
  person: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM2.8 13.8c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.9-.9',
  key: 'M10 9.5a3.5 3.5 0 1 0-3.4-2.6L2.5 11v2.5H5V12h1.5v-1.5H8l.6-.6c.4.1.9.1 1.4.1zM11 5h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
