// Runs in a browser: what the dashboard's editor and forms make of each source, for the test that compares it with Node.
import { readForm } from '@methods/form/field';
import { readPostedAnswer } from '@methods/form/posted-answer';
import { compileMethod } from '@methods/method/compile';
import { upgradeSource } from '@methods/method/upgrade/upgrade-source';
import { findingsOfSource } from './source-findings.ts';

Object.assign(globalThis, {
  findingsOf: (sources: readonly string[]) =>
    sources.map((source) => findingsOfSource({ compileMethod, upgradeSource, readForm, readPostedAnswer }, source)),
});
