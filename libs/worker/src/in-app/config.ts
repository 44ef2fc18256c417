// The environment of the application, from which steps get what they declare.

export function applicationEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
