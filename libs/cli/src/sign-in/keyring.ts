// The keyring of the system, where it has one: macOS, Windows, and a Linux desktop with a secret service.

const SERVICE = 'methods';
/** A locked keyring asks its user; one that never answers is no keyring. */
const TIME_MAX_MS = 60_000;

export interface KeyringEntry {
  read(): Promise<string | null>;
  /** False: it does not take it, for example because it is too long. */
  write(text: string): Promise<boolean>;
  remove(): Promise<void>;
}

/** null: there is no keyring here. */
export async function keyringEntry(account: string): Promise<KeyringEntry | null> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // The kernel's keyring would do too, but forgets everything when the machine starts again.
    const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' as never } });
    return {
      read: async () => (await quietly(() => entry.getPassword(AbortSignal.timeout(TIME_MAX_MS)))) ?? null,
      write: async (text) => {
        const done = await quietly(() => entry.setPassword(text, AbortSignal.timeout(TIME_MAX_MS)).then(() => true));
        return done === true;
      },
      remove: async () => {
        await quietly(() => entry.deletePassword(AbortSignal.timeout(TIME_MAX_MS)));
      },
    };
  } catch {
    return null;
  }
}

/** An error of the keyring is as good as no keyring: the file takes over. */
async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
