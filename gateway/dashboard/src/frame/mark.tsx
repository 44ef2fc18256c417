// The product's mark.

export function Mark({ size = 24 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" role="img" aria-label="Methods">
      <rect width="32" height="32" rx="7" fill="#4b4acf" />
      <path
        d="M8 22V11l8 7 8-7v11"
        fill="none"
        stroke="#fff"
        strokeWidth="3.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
