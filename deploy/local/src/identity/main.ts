// The process of the development identity provider, a part of a local stack.
import { runService } from '@methods/service/run-service';
import { composeIdentity } from './composition.ts';
import { readConfig } from './config.ts';

runService({ name: 'identity-provider', readConfig, compose: composeIdentity });
