#!/usr/bin/env node
// The `methods` command. The sources are TypeScript and run as they are; a tsconfig.json of the folder the command is
// called in must not change how they are read.
import { register } from 'tsx/esm/api';

register({ tsconfig: false });
await import('../src/main.ts');
