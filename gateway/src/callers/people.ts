// The parts that identify people: their accounts and, if an issuer is configured, its tokens and its sign-in.
import { noOrganization } from '@methods/auth/identity';
import { Issuer } from '@methods/auth/issuer';
import type { Clock } from '@methods/base/clock';
import { Accounts } from '../clients/accounts.ts';
import type { IssuerConfig } from '../config.ts';
import { AccessTokens } from './access-tokens.ts';
import { SignIn } from './sign-in.ts';

export interface People {
  readonly accounts: Accounts;
  /** Both are null without an issuer: then there are only service keys. */
  readonly accessTokens: AccessTokens | null;
  readonly signIn: SignIn | null;
  /** The message for a person whose token names no organization. */
  readonly noOrganization: string;
}

interface PeopleOptions {
  readonly issuer: IssuerConfig | null;
  readonly publicUrl: string | null;
  readonly mcpUrl: string | null;
  /** `host:port`. */
  readonly methodRegistryAddress: string;
}

export function peopleOf({ issuer: config, publicUrl, mcpUrl, ...options }: PeopleOptions, clock: Clock): People {
  const accounts = new Accounts({ address: options.methodRegistryAddress, clock, issuer: config?.url ?? '' });
  if (config === null || publicUrl === null) {
    return { accounts, accessTokens: null, signIn: null, noOrganization: '' };
  }
  const issuer = new Issuer(config.url, clock);
  return {
    accounts,
    accessTokens: new AccessTokens({ ...config, issuer, clock, mcpAudience: mcpUrl }),
    signIn: new SignIn({ issuer, config, publicUrl }),
    noOrganization: noOrganization(config),
  };
}
