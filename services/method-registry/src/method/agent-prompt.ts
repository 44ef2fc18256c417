// The general instructions for an agent that a method may carry beside its source, or in its place.
import { ServiceError } from '@methods/errors/service-error';

const BYTES_MAX = 64 * 1024;

/** Returns the prompt unchanged. @throws ServiceError too_large over 64 KiB of UTF-8, invalid_request for NUL. */
export function givenAgentPrompt(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > BYTES_MAX) {
    throw new ServiceError('too_large', 'An agent prompt holds at most 64 KiB.', {
      findings: [{ path: '/agent_prompt', code: 'agent_prompt_bytes', message: `It has ${bytes} bytes.` }],
    });
  }
  if (text.includes('\0')) {
    throw new ServiceError('invalid_request', 'agent_prompt holds a NUL character.', {
      findings: [{ path: '/agent_prompt', code: 'agent_prompt_nul', message: 'It holds a NUL character.' }],
    });
  }
  return text;
}
