// The key under which the viewer of an organization is kept.

export function viewerKey(org: string) {
  return [org, 'viewer'] as const;
}
