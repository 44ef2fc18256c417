// Signs a person in with a browser elsewhere: this machine shows a code and waits (RFC 8628).
import type { Configuration } from 'openid-client';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { plainText } from '../terminal/plain-text.ts';
import { type IssuerNames, issuerFault, resourceParameter, SCOPE, signInOf } from './issuer-client.ts';
import type { SignIn } from './sign-in-store.ts';

export function hasDeviceFlow(configuration: Configuration): boolean {
  return configuration.serverMetadata().device_authorization_endpoint !== undefined;
}

/** @throws CommandError `sign_in_refused` and those of `issuerFault`. */
export async function deviceSignIn(
  server: string,
  names: IssuerNames,
  configuration: Configuration,
  { output, interrupted }: CommandContext,
): Promise<SignIn> {
  if (!hasDeviceFlow(configuration)) {
    const hint = 'sign in without --device, on a machine with a browser';
    throw new CommandError('sign_in_refused', `the issuer ${names.issuer} signs in no devices`, { hint });
  }
  const client = await import('openid-client');
  const resource = resourceParameter(names.resource);
  try {
    const device = await client.initiateDeviceAuthorization(configuration, { scope: SCOPE, ...resource });
    output.instruction(
      `Open  ${plainText(device.verification_uri)}\nand enter the code  ${plainText(device.user_code)}\n`,
    );
    const whole = device.verification_uri_complete;
    if (whole !== undefined) output.instruction(`or open  ${plainText(whole)}\n`);
    const reply = await client.pollDeviceAuthorizationGrant(configuration, device, resource, { signal: interrupted });
    return signInOf(reply, { server, ...names });
  } catch (error) {
    if (interrupted.aborted) throw error;
    throw issuerFault(names.issuer, error);
  }
}
