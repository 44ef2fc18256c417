// Decides whether the record of a run may be sent to a server: only if the file's exact bytes are a version saved
// there.
import type { MethodId, VersionId } from '@methods/base/ids';
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import type { OptionWords } from '../command/command-words.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
import type { LocalRunRecord } from '../local-run/run-record.ts';
import type { ServerApi } from '../server/server-api.ts';
import { lastSignIn } from '../sign-in/last-sign-in.ts';

export const UPLOAD_OPTIONS = {
  upload: { help: 'send the record of the run to the server as it grows; default when signed in' },
  'no-upload': { help: 'keep the record here' },
} as const satisfies Readonly<Record<string, OptionWords>>;

export interface UploadTarget {
  /** Its address. */
  readonly server: string;
  /** Bare. */
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly open: () => Promise<ServerApi>;
}

/**
 * Null: the record stays here. Does not use the network. `file`: an absolute path. @throws CommandError if --upload was
 * given and the file is not a saved version: `not_saved`.
 */
export async function uploadTarget(
  file: string,
  sha256: LocalRunRecord['sha256'],
  line: CommandLine,
  context: CommandContext,
): Promise<UploadTarget | null> {
  const asked = line.flag('upload');
  if (asked && line.flag('no-upload')) throw new UsageError('--upload and --no-upload exclude each other');
  if (line.flag('no-upload') || (!asked && !(await isSignedIn(context)))) return null;
  const { chooseServer } = await import('../chosen-server/choose-server.ts');
  const { FileLinks } = await import('../link/link-file.ts');
  try {
    const { baseUrl } = await chooseServer(line, context.config);
    const link = await new FileLinks(file).read(baseUrl);
    const methods = `methods save ${line.operands[0] ?? 'FILE'}`;
    if (link?.state !== 'saved') {
      throw new CommandError('not_saved', `the file has no method on ${baseUrl}`, { hint: methods });
    }
    if (link.sha256 !== sha256) {
      throw new CommandError('not_saved', 'the file was changed since it was saved', { hint: methods });
    }
    const open = async () => {
      const { openServer } = await import('../chosen-server/open-server.ts');
      return openServer(line, context);
    };
    return { server: baseUrl, methodId: link.methodId, versionId: link.versionId, open };
  } catch (error) {
    // It was not requested: the run is complete without it.
    if (!asked && error instanceof CommandError) return null;
    throw error;
  }
}

async function isSignedIn({ config }: CommandContext): Promise<boolean> {
  return (await lastSignIn(config.stateDir).catch(() => null)) !== null;
}
